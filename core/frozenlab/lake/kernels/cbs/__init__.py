"""Compiled Conflict-Based Search for the optimal sum of costs of one team (Sharon, Stern, Felner and Sturtevant 2015).

A node of the constraint tree holds constraints on single agents and the least *delay* of each agent that obeys them: its arrival time
less its distance. A node whose paths conflict is split into two that exclude the conflict in one way or the other, so that no plan is lost.

Sets of cells are bitboards (bitboard.py). Everything an agent can do within an arrival time is one bitboard for each time step: its
*MDD* (mdd.py), the multi-valued decision diagram of ICTS (Sharon et al. 2013) and ICBS (Boyarski et al. 2015). MDDs cost next to nothing,
so they are built again wherever they are needed. From them come

* the exact delay of two agents under the constraints of a node, and from these, by a weighted vertex cover, a bound for the node (the WDG
  heuristic, Li, Felner, Boyarski, Ma and Koenig 2019);
* the splits. Two agents that conflict within delays x and y have a first time step that no pair of paths in their MDDs
  reaches. There, one of them is outside its MDD. This is one split where single cells would need many: rectangles, corridors and occupied
  goals are special cases of it (mutex propagation, Zhang, Li, Surynek, Kumar and Koenig 2020). x and y are raised as far as the agents
  still conflict.
* Where no pair conflicts but the chosen paths do, an agent is at the cell in question or is not (disjoint splitting, Li, Harabor,
  Stuckey, Felner, Ma and Koenig 2019), and one that is parked there arrives later or has settled (target reasoning, Li et al. 2021).
"""
