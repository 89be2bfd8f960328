/** Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009, which also found the constant. */
export const reciprocalRankConstant = 60;

/** What is first in both of two rankings. */
export const bestReciprocalRank = 2 / (reciprocalRankConstant + 1);
