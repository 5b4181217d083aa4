"""Play: how does the model plan on this board, and what is optimal?"""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import streamlit as st

from frozenlab.lake.board import MOVES, START_LETTERS, Board, BoardError
from frozenlab.lake.config import MAX_AGENTS, PAPER_SIZES
from frozenlab.lake.draw.generator import GenerationError
from frozenlab.lake.formats import FORMATS
from frozenlab.lake.rules import Paths, judge, judge_paths, walk
from frozenlab.lake.solve.solver import Solution, solve
from frozenlab.loop.planner import Planner, PlannerError
from frozenlab.loop.store import OFFERED, Checkpoint, SessionStore
from frozenlab.ui import choices, keys, nav, preparing, theme, tree
from frozenlab.ui.board import Track, board_editor, board_player
from frozenlab.ui.gif import board_gif
from frozenlab.ui.plain import plain
from frozenlab.ui.share import decode, encode

nav.ensure_nav()
state = st.session_state

SOLVING = "Solving"
QUICK_CELLS, QUICK_TEAM = 100, 5
"""Boards up to here are solved at once; larger ones are shown before they are solved."""
COSTS_OPEN = (
    "The best sum of costs is open: the search for it is sure to end on boards up to 10×10 with 5 agents, and gave up on this one. "
    "The best makespan is proven."
)
MUST_WAIT = {True: "yes", False: "no", None: "unknown"}
FIRST_PLAN = "The model plans"
RULES = {
    "parse_error": "A plan names one path for every agent in the model's dialect; this answer does not.",
    "truncated": "The model has a limit of words for one answer; it was reached before every agent had its whole path.",
    "missing_agent": "Every agent needs a path, even one that only waits.",
    "out_of_bounds": "Agents stay on the board.",
    "hole": "Holes are the hatched cells. Whoever enters one has fallen in.",
    "illegal_jump": "In one step an agent goes to one of the four neighbouring cells, or waits.",
    "vertex_conflict": "Two agents never stand on the same cell at the same time. An agent that has arrived still blocks its cell.",
    "edge_conflict": "Two neighbouring agents cannot swap their cells in one step. Following another agent is fine.",
    "goal_not_reached": "At the end every agent stands on its own goal.",
}


def load(board: Board) -> None:
    """Makes ``board`` the one on the page, and the one that the editor starts from."""
    state.play_board = state.play_base = board
    state.play_revision = state.get("play_revision", 0) + 1


def show(answer: choices.Recorded | None) -> None:
    """Puts a recorded answer on the page."""
    if answer is not None:
        load(answer.board)
        state.play_recorded = answer
        state.play_planner = "Recorded"


@st.cache_data(max_entries=500, show_spinner=False)
def solution_of(code: str, sum_of_costs: bool) -> Solution:
    return solve(decode(code), sum_of_costs=sum_of_costs)


def known_solution(board: Board) -> Solution | None:
    """The solution of the board on the page; None where it takes its time, and the page shows the board first."""
    wanted = board, preparing.ready("costs")
    quick = board.height * board.width <= QUICK_CELLS and board.num_agents <= QUICK_TEAM and preparing.ready("solver")
    if quick and state.get("play_solution", (None,))[0] != wanted:
        state.play_solution = wanted, solution_of(encode(board), wanted[1])
    known, solution = state.get("play_solution", (None, None))
    return solution if known == wanted else None


# --- the board on the page: from the address, else as it was left, else the first ---------------------------------------

problem = ""
code = st.query_params.get("board")
if (nav.arrived() or "play_board" not in state) and code:
    try:
        load(decode(code))
    except BoardError as error:
        problem = f"The address holds no board: {error}. Here is another one."
if "play_board" not in state:
    load(choices.FIRST_BOARD)

theme.question(
    "How does the model plan on this board?", "Choose or draw a board, let a model plan it, and watch it beside the optimal plan."
)
if problem:
    st.warning(plain(problem))
st.html(f"<style>{nav.asset('play.css')}</style>")
with st.container(key="play_presented" if state.get("presenter") else "play_bench"):
    controls, hero = theme.bench(1, 2.6)
with hero:
    top = st.container(horizontal=True, vertical_alignment="center", key="play_top")
    facts_slot = top.container()
    actions = top.container(horizontal=True, width="content")
    waiting = st.empty()
    stage = st.container()


# --- choosing a board ---------------------------------------------------------------------------------------------------


def random_controls() -> None:
    def want() -> None:
        state.play_draw = True

    def another() -> None:
        state.play_seed += 1
        want()

    keep: dict[str, Any] = {"on_change": want, "persist_state": "session"}
    kinds = {"any": None, "must wait": True, "need not wait": False}
    sizes, teams = st.columns(2)
    sizes.slider("Map size", PAPER_SIZES[0], PAPER_SIZES[-1], 6, key="play_size", help="Cells along each side", **keep)
    teams.slider("Agents", 1, MAX_AGENTS, 2, key="play_agents", **keep)
    holes, conflict = st.columns(2)
    holes.slider("Hole ratio", 0, 50, 20, format="%d %%", key="play_holes", help="Part of the cells that are holes", **keep)
    kind = conflict.selectbox(
        "Waits", kinds, key="play_kind", help="Whether every plan of the fewest steps makes some agent wait for another", **keep
    )
    st.number_input("Seed", 0, 2**31 - 1, 0, key="play_seed", help="The same seed gives the same board", **keep)
    actions.button("Another", on_click=another, key="play_another", help="Draws the board of the next seed. Key: N")
    if state.pop("play_draw", False):
        preparing.wait_for("solver", "boards")
        try:
            with st.spinner(SOLVING, show_time=True):
                ratio, seed = state.play_holes / 100, state.play_seed
                load(choices.random_board(state.play_size, state.play_agents, ratio, kinds[kind], seed).board)
        except GenerationError as error:
            st.warning(plain(f"No such board: {error}"))


def session_controls(store: SessionStore) -> None:
    sessions = {f"{session.title} ({session.id})": session for session in store.sessions(OFFERED)}
    if not sessions:
        st.info("No session has run yet.")
        st.page_link(nav.path("train"), label="Start one")
        return
    session = sessions[st.selectbox("Session", sessions, key="play_session", persist_state="session")]
    tables = choices.validations(session)
    if not tables:
        st.info("This session has not validated yet.")
        return
    label = st.selectbox("Validation", tables, key="play_validation")
    table = tables[label]
    teams, sizes = sorted(table["agents"].unique()), sorted(table["size"].unique())
    outcomes = [name for name in theme.OUTCOME_WORDS if (table["outcome"] == name).any()]
    columns = st.columns(2)
    team = columns[0].selectbox("Agents", ["all", *teams], key="play_filter_agents")
    size = columns[1].selectbox("Map size", ["all", *sizes], key="play_filter_size")
    outcome = st.selectbox(
        "Outcome", ["all", *outcomes], format_func=lambda name: theme.OUTCOME_WORDS.get(name, name), key="play_filter_outcome"
    )
    for column, wanted in (("agents", team), ("size", size), ("outcome", outcome)):
        if wanted != "all":
            table = table[table[column] == wanted]
    rows = {row["board_id"]: row for _, row in table.iterrows()}

    def pick() -> None:
        if state.play_row is not None:
            show(choices.recorded(rows[state.play_row], f"{session.title}, {label}"))

    st.selectbox(
        f"Board (of {len(rows)})",
        rows,
        index=None,
        format_func=lambda name: f"{name} · {theme.OUTCOME_WORDS[rows[name]['outcome']]}",
        placeholder="Choose a board",
        key="play_row",
        on_change=pick,
    )


def paste_controls() -> None:
    def bring(files: dict[str, bytes], agents: int | None = None) -> None:
        state.play_paste_error, state.play_brought, state.play_entry = "", None, 0
        try:
            state.play_brought = name, found = choices.bring(files, agents)
            take(found[0], name)
        except BoardError as error:
            state.play_paste_error = str(error)

    def take(entry: choices.Entry, file_name: str) -> None:
        load(entry.board)
        if entry.plan is not None:
            show(choices.from_file(entry, file_name))

    def use() -> None:
        bring({"the text": state.play_text.encode()})

    def upload() -> None:
        if state.play_files:
            bring({file.name: file.getvalue() for file in state.play_files}, state.get("play_file_agents"))

    st.text_area(
        "Text or JSON",
        height=220,
        max_chars=20_000,
        placeholder=choices.FIRST_BOARD.to_text(),
        key="play_text",
        help="Rows of cells with spaces between them: F frozen, H hole, starts S s A B C, goals G g a b c. Or one JSON board.",
    )
    st.button("Use this board", on_click=use, width="stretch")
    st.file_uploader(
        "Or files", choices.UPLOADS, accept_multiple_files=True, key="play_files", on_change=upload,
        help="Of FrozenLab, " + ", ".join(choices.EXPORTS.values()) + ". Bring a map or scenario that a file only names with it.",
    )  # fmt: skip
    if state.play_files:
        st.number_input(
            "Agents to take", 1, 512, None, placeholder="all", key="play_file_agents", on_change=upload,
            help="The first agents of a file. A MovingAI scenario lists a thousand: its first rows are the agents",
        )  # fmt: skip
    name, found = state.get("play_brought") or ("", [])
    if len(found) > 1:
        st.selectbox(
            f"Board (of {len(found)})", range(len(found)), format_func=lambda i: found[i].name or f"number {i + 1}", key="play_entry",
            on_change=lambda: take(found[state.play_entry], name),
        )  # fmt: skip
    if state.get("play_paste_error"):
        st.error(plain(state.play_paste_error))


def draw_controls() -> None:
    st.markdown(
        "- Press and drag over cells to **paint** holes or ice.\n"
        "- **Drag** a disc (start) or a square (goal) to another cell.\n"
        "- With the keyboard: arrows, space for a hole, enter to pick up and put down."
    )


store = SessionStore()
board_place, plan_place = controls.columns(2, gap="large") if state.get("presenter") else (controls, controls)
with board_place:
    st.subheader("Board", anchor=False)
    source = st.segmented_control(
        "Where the board comes from", ["Random", "Session", "Paste", "Draw"], default="Random", required=True,
        label_visibility="collapsed", width="stretch", key="play_source", persist_state="session",
    )  # fmt: skip
    if source == "Random":
        random_controls()
    elif source == "Session":
        session_controls(store)
    elif source == "Paste":
        paste_controls()
    else:
        draw_controls()

if source == "Draw":
    with stage:
        state.play_board = board_editor(state.play_base, key="play_editor", revision=state.play_revision, height=480)
elif state.play_base != state.play_board:
    load(state.play_board)

board: Board = state.play_board
code = encode(board)
if st.query_params.get("board") != code:
    st.query_params["board"] = code


# --- the optimum --------------------------------------------------------------------------------------------------------

solution = known_solution(board)
figures = [
    (f"{board.height}×{board.width}", "map", "Rows and columns"),
    (str(board.num_agents), "agent" if board.num_agents == 1 else "agents", "They all move at once, one cell or a WAIT a step"),
    (f"{board.hole_ratio:.0%}", "holes", f"{len(board.holes)} of {board.height * board.width} cells"),
]
if solution is None:
    figures.append(("…", "optimal plan", "It is being looked for"))
elif solution.status == "solved":
    figures += [
        (str(solution.makespan), "best makespan", "The fewest steps after which all agents can be on their goals for good"),
        (str(solution.sum_of_costs or "–"), "best sum of costs", "The smallest sum of the steps at which the agents arrive for good"),
        (MUST_WAIT[solution.needs_wait], "must wait", "Whether every plan of the best makespan makes an agent wait on its way"),
    ]  # fmt: skip
elif solution.bounds:
    least, most = solution.bounds
    figures.append((f"{least} to {most}", "best makespan", f"A plan of {most} steps is known; none can have fewer than {least}"))
else:
    figures.append(("none" if solution.status == "unsolvable" else "unknown", "optimal plan", "What the exact solver found"))
with facts_slot:
    theme.facts(figures)
with hero, stage:
    if solution is not None and solution.status == "solved" and solution.sum_of_costs is None:
        if preparing.ready("costs"):
            st.caption(COSTS_OPEN)
        preparing.announce("costs", what="The best sum of costs is still to come.")
    if solution is not None and solution.status == "unsolvable":
        st.warning("This board cannot be solved: no plan brings all agents to their goals. Freeze a hole or move a goal.")
    elif solution is not None and solution.status == "undecided":
        st.warning("The solver found no plan within its budget, and no proof that there is none. Plans are still judged.")

optimum = solution.makespan if solution else None
tracks: list[Track] = []
completion: str | None = None


# --- who plans ----------------------------------------------------------------------------------------------------------


Wanted = tuple[str, str, int, float, int]
"""What a plan is asked for: the board's code, the checkpoint's folder, how many answers, their temperature and seed."""


def model_controls() -> tuple[str, Checkpoint, Wanted] | None:
    """The name of the model, the model, and what is wanted of it; None if there is no model."""
    models = choices.models(store)
    if not models:
        st.info("There is no model on this machine yet.")
        return None
    model = st.selectbox(
        "Model", models, key="play_model", persist_state="session", help="The shipped model, and every checkpoint of every session"
    )
    way = st.segmented_control(
        "Answer", ["Greedy", "Sampled"], default="Greedy", required=True, key="play_way", width="stretch", persist_state="session",
        help="Greedy takes the most probable word each time. Sampled draws several answers, as training does.",
    )  # fmt: skip
    many = way == "Sampled"
    answers = st.slider("Answers", 2, 16, 8, key="play_count", persist_state="session") if many else 1
    temperature = st.slider("Temperature", 0.1, 1.5, 1.0, 0.1, key="play_temperature", persist_state="session") if many else 0.0
    actions.button("Let the model plan", type="primary", key="play_plan", on_click=lambda: state.update(play_asked=True), help="Key: M")
    st.toggle("Plan every board I show", key="play_follow", persist_state="session", help="Asks the model anew whenever the board changes")
    return model, models[model], (encode(board), str(models[model].path), answers, temperature, state.get("play_seed", 0))


def your_controls() -> None:
    st.caption("One letter a step: " + " ".join(MOVES) + " (up, down, left, right, wait). An agent whose letters have ended waits.")
    motions = tuple(
        st.text_input(f"Agent {i}", key=f"play_motions_{i}", max_chars=200, placeholder="RRDDW", persist_state="session").strip().upper()
        for i in range(board.num_agents)
    )
    if not any(motions):
        return
    try:
        tracks.append(Track("Your plan", walk(board, motions), judge(board, motions, optimum)))
    except ValueError as error:
        st.error(plain(str(error)))


saved: choices.Recorded | None = state.get("play_recorded")
if saved is not None and saved.board != board:
    saved = None
with plan_place:
    st.subheader("Plan", anchor=False)
    options = ["Model", "You", *(["Recorded"] if saved else [])]
    if state.get("play_planner") not in options:
        state.play_planner = "Model"
    planner = st.segmented_control("Who plans", options, required=True, key="play_planner", label_visibility="collapsed", width="stretch")
    model = model_controls() if planner == "Model" else None
    if planner == "You":
        your_controls()
    elif planner == "Recorded" and saved is not None:
        st.caption(plain(saved.origin))


def due(model: tuple[str, Checkpoint, Wanted]) -> bool:
    """Whether the model is to plan: it was asked to, or follows the page and has not been asked this."""
    follows = state.play_follow and source != "Draw" and state.get("play_wanted") != model[2]
    return bool(state.get("play_asked") or follows)


planning = model if model is not None and due(model) else None
if state.pop("play_answers_new", False):
    state.play_chosen = 0
answers = state.get("play_answers") if planner == "Model" and state.get("play_wanted", ("",))[0] == code else None
if answers:
    chosen = min(state.get("play_chosen", 0), len(answers) - 1)
    answer = answers[chosen]
    name = state.play_answered.rsplit(" (", 1)[0]
    tracks.append(Track(name if len(answers) == 1 else f"{name}, answer {chosen + 1}", answer.paths, answer.verdict))
    completion = answer.completion
elif planning:
    tracks.append(Track(planning[0].rsplit(" (", 1)[0], None))
elif saved is not None and planner == "Recorded":
    tracks.append(Track(saved.label, saved.paths, saved.verdict or judge_paths(board, saved.paths or (), optimum)))
    completion = saved.completion
if solution is not None and solution.plan is not None:
    tracks.append(Track("Solver" if solution.bounds else "Exact solver", walk(board, solution.plan), judge(board, solution.plan, optimum)))
if source == "Draw" and planner == "Model" and not answers and not planning:
    tracks = []
if model is not None and state.get("play_wanted") == model[2] and state.get("play_failed") and not planning:
    plan_place.error(plain(f"The model could not be asked: {state.play_failed}"))


# --- watching ------------------------------------------------------------------------------------------------------------


@st.cache_data(max_entries=50, show_spinner=False)
def exported(code: str, paths: Paths | None, name: str) -> tuple[str, bytes]:
    return choices.export(decode(code), paths, name)


def export_controls() -> None:
    name = st.selectbox("For", choices.EXPORTS, format_func=choices.EXPORTS.__getitem__, key="play_export", persist_state="session")
    plans = {track.label: track.paths for track in tracks} if FORMATS[name].plans else {}
    paths = plans[st.selectbox("Plan", plans, key="play_export_plan")] if plans else None
    try:
        file_name, data = exported(encode(board), paths, name)
        st.download_button(f"Download {plain(file_name)}", data, file_name, on_click="ignore", width="stretch")
    except BoardError as error:
        st.warning(plain(f"Not for this board: {error}"))


with hero:
    if source != "Draw" or tracks:
        with stage:
            ghost = walk(board, solution.plan) if solution is not None and solution.plan else None
            busy = SOLVING if solution is None else FIRST_PLAN if planning else ""
            board_player(board, tracks, key="play_player", ghost=ghost, height=600, autoplay=len(tracks) > 1 and not busy, busy=busy)
            if answers and len(answers) > 1:
                valid, best = (sum(test(answer.verdict) for answer in answers) for test in (lambda v: v.valid, lambda v: bool(v.optimal)))
                signs = ["★" if answer.verdict.optimal else "✓" if answer.verdict.valid else "✗" for answer in answers]
                st.segmented_control(
                    f"{valid} of {len(answers)} answers are valid (✓), {best} optimal (★). Choose one to watch:",
                    range(len(answers)), format_func=lambda i: f"{i + 1} {signs[i]}", key="play_chosen", required=True,
                )  # fmt: skip
    first = tracks[0].verdict if tracks else None
    if first is not None and first.fault is not None:
        st.caption(f"**The rule.** {RULES[first.fault]}")

    row = st.container(horizontal=True, vertical_alignment="center")
    with row.popover("Share"):
        st.write("This address opens this board:")
        st.code(f"{st.context.url}?board={code}" if st.context.url else f"?board={code}", language=None)
    row.download_button("JSON", lambda: json.dumps(board.to_dict()), "board.json", "application/json", on_click="ignore")
    if board.num_agents <= len(START_LETTERS):
        row.download_button("Text", lambda: board.to_text() + "\n", "board.txt", "text/plain", on_click="ignore")
    with row.popover("Export"):
        export_controls()
    if tracks:
        colors = theme.palette()
        row.download_button("GIF", lambda: board_gif(board, tracks, colors), "plans.gif", "image/gif", on_click="ignore")
    if completion is not None:
        with st.expander("The model's answer, to the letter"):
            st.code(completion or "(empty)", language=None, wrap_lines=True)


# --- how a solver finds it ----------------------------------------------------------------------------------------------


def how_it_is_found(solution: Solution) -> None:
    """The constraint tree of Conflict-Based Search on the board of the page, to be stepped through in the browser."""
    st.subheader("How a solver finds it: Conflict-Based Search", anchor=False)
    st.caption(tree.IDEA)
    bar = st.container(horizontal=True, vertical_alignment="bottom")
    objective = bar.segmented_control(
        "What is to be small", list(tree.COSTS), format_func=tree.COSTS.__getitem__, default="sum_of_costs", required=True,
        key="play_search_objective", persist_state="session",
    )  # fmt: skip
    found: tree.Search | None = state.get("play_search")
    if found is None or (found.board, found.objective) != (board, objective):
        found = state.play_search = tree.Search.of(board, objective)
    if len(found.nodes) == 1 and found.steps[-1].action == "solved":
        bar.button("Show a board on which they meet", key="play_search_board", on_click=let_them_meet)
    tree.search_player(found, solution, key="play_search_player", reveal=state.pop("play_search_reveal", False))


def let_them_meet() -> None:
    """Puts the first drawn board on the page whose tree is worth watching."""
    state.update(play_source="Random", play_size=5, play_agents=3, play_holes=20, play_kind="must wait")
    for seed in count():
        drawn = choices.random_board(5, 3, 0.2, True, seed).board
        if tree.Search.of(drawn, "sum_of_costs").worth_watching:
            state.play_seed, state.play_search_reveal = seed, True
            return load(drawn)


def reveal() -> None:
    state.play_search_reveal = state.play_search_shown


shown = row.toggle(
    "How a solver finds it", key="play_search_shown", persist_state="session", on_change=reveal,
    help="Step by step through the constraint tree of Conflict-Based Search on this board",
)  # fmt: skip
if shown and solution is not None:
    how_it_is_found(solution)
keys.shortcuts({"n": "play_another", "m": "play_plan"}, key="play_keys")


# --- what takes its time: the page is there already, with the board on it ------------------------------------------------

if solution is None:
    preparing.wait_for("solver", place=waiting)
    with_costs = preparing.ready("costs")
    state.play_solution = (board, with_costs), solution_of(code, with_costs)
    st.rerun()
if model is not None and planning:
    name, checkpoint, wanted = model
    state.play_wanted, state.play_answered, state.play_answers_new = wanted, name, True
    state.play_answers, state.play_failed, state.play_asked = None, "", False
    *_, completions, temperature, seed = wanted
    try:
        state.play_answers = Planner.shared().plan(
            checkpoint.path,
            board,
            language=checkpoint.language,
            optimal_makespan=optimum,
            temperature=temperature,
            completions=completions,
            seed=seed,
        )
    except PlannerError as error:
        state.play_failed = str(error)
    st.rerun()
if model is not None and model[1].language is None:
    Planner.shared().warm_up(model[1].path)
