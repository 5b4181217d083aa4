// What the search does, in words for somebody who sees it for the first time. `told`: {measure, sentences}.

function forbids({ agent, step, cell, origin }) {
  if (!origin) return `agent ${agent} must not be on ${plainCell(cell)} at step ${step}`;
  return `agent ${agent} must not go from ${plainCell(origin)} to ${plainCell(cell)} in step ${step}`;
}

function conflictOf({ verdict }, told) {
  if (!verdict) return "";
  return verdict.fault ? faultSentence(verdict, told.sentences) : "no conflict";
}

function explained({ action, node }, tree, told) {
  const conflict = conflictOf(node, told), { measure } = told;
  const free = node.verdict && !node.verdict.fault;
  if (action === "generated" && !node.constraint) {
    const root = `Every agent takes its own shortest path, as if it were alone. That is the root of the tree, with a ${measure} of ${node.cost}. `;
    return root + (free ? "No two agents collide." : `But two agents collide. ${conflict}`);
  }
  if (action === "generated") {
    const more = node.cost - node.parent.cost;
    const paid = more ? `which makes the ${measure} ${node.cost}, ${more} more` : `which costs no more: the ${measure} stays ${node.cost}`;
    const rest = free ? "No conflict is left, so this is a valid plan." : `A conflict is left. ${conflict}`;
    return `Child of node ${node.parent.id}: ${forbids(node.constraint)}. It takes its next best path, ${paid}. ${rest}`;
  }
  if (action === "pruned") return `${forbids(node.constraint).replace("a", "A")} any more. No path to its goal is left, so this branch ends here.`;
  if (action === "expanded") {
    return `Node ${node.id} is the cheapest that is open. ${conflict} One of the two agents has to give way, and we do not know which: so the node gets two children, one for each choice.`;
  }
  if (action === "solved") {
    return `Node ${node.id} is the cheapest that is open, and has no conflict. So its plan is optimal, with a ${measure} of ${node.cost}: `
      + "constraints never make a plan cheaper, so no other open node can lead to a better one.";
  }
  if (action === "gave_up") return `The tree has grown to ${tree.nodes.length} nodes, and the cheapest open one still has a conflict. The search gives up here.`;
  if (!node.paths) return "Some agent cannot reach its goal even if it is alone: there is no plan, and nothing to search.";
  return "Every branch has ended: there is no plan.";
}

// How the search ends, and what the exact solver ({status, best}) says; empty where the tree tells it all.
function ending({ action, node }, tree, told, solver) {
  if (action === "solved" && tree.nodes.length === 1) return "On this board no two agents collide, so there is no tree to grow.";
  if (action !== "gave_up") return "";
  if (solver.status === "unsolvable") {
    return "**The tree has no end.** The exact solver has proven that this board has no solution. Conflict-Based Search alone can never find that out: "
      + "there is always one more step to forbid.";
  }
  const explodes = "**The tree explodes.** In narrow passages agents collide again and again, and every collision doubles the tree. "
    + `It has shown this much: no plan has a smaller ${told.measure} than ${node.cost}. `;
  return solver.best === null ? explodes : `${explodes}The exact solver, which works differently, knows the smallest: ${solver.best}.`;
}

// Why a node that a learner has chosen is not the one to go on with.
function whyNot(node, best) {
  if (!node.paths) return `Node ${node.id} has ended: an agent has no path left.`;
  return `Not yet: node ${node.id} costs ${node.cost}, and node ${best.id}, which is open too, only ${best.cost}. A cheaper plan may still lie below it.`;
}
