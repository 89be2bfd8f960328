/** Reasons why a revision of an agent serves or does not, and for what its required AgentTests say of it. */
import { stalled, type ReasonDefinition } from './reason-definition.ts';

export const agentReasons = {
  TestsPassed: { condition: 'Tested', status: 'True', meaning: 'The revision passed every required AgentTest that names the agent.' },
  TestsSkipped: {
    condition: 'Tested',
    status: 'True',
    meaning: '`spec.release.skipTests` names the revision, or a person promoted it: required AgentTests do not hold it back.',
    cure: 'Remove `spec.release.skipTests` once it is not needed any more: it has no effect on another revision, and neither has the promotion.',
  },
  TestsRunning: {
    condition: 'Tested',
    status: 'Unknown',
    meaning: 'Required AgentTests are running against the revision, or wait for a worker that runs them.',
  },
  TestsNotRun: {
    condition: 'Tested',
    status: 'Unknown',
    meaning:
      'Required AgentTests could not be evaluated: a model, Temporal or Postgres does not answer, a test is suspended or not accepted, or it asks for something that the agent does not have. The operator tries again where that can help.',
    cure: 'Correct what the message names.',
  },
  TestsFailed: {
    condition: 'Tested',
    status: 'False',
    meaning: 'Required AgentTests failed against the revision.',
    cure: 'Correct the agent, or the test; or request another run. The transcripts are in the test run.',
  },

  DailyBudgetSpent: {
    condition: 'BudgetExceeded',
    status: 'True',
    meaning:
      "The calls of the day, by the agent's time zone, have cost `spec.budget`: new calls are refused until midnight. Calls under way go on.",
    cure: 'Raise `spec.budget.daily`, or wait.',
  },
  BudgetNotCounted: {
    condition: 'BudgetExceeded',
    status: 'Unknown',
    meaning: 'The agent has a budget, and there are no prices in its currency: nothing is counted, and no call is refused.',
    cure: 'Set `PARLEY_PRICES`, or write `spec.budget` in the currency of its prices.',
  },

  RevisionServed: { condition: 'Synced', status: 'True', meaning: 'New calls start with the revision that the spec asks for.' },
  RevisionPending: {
    condition: 'Synced',
    status: 'False',
    meaning: 'The revision has been compiled and is about to be stored.',
    blocks: 'retry',
  },
  RevisionReduced: stalled('Synced', {
    meaning:
      'The agent has served before and something optional is missing: its knowledge base, an agent that it hands over to, or what a tool needs. New calls start without it, and so do later edits.',
    cure: 'See the condition ResolvedRefs; `servingRevision` becomes `desiredRevision` once everything is there.',
  }),
  RevisionWithheld: stalled('Synced', {
    meaning:
      "The revision that the spec asks for is not put into service, because the spec is not accepted, or something is missing that every call needs: a provider's key, the system prompt, or any reference of an agent that has never served. The last valid revision keeps serving.",
    cure: 'See the conditions Accepted and ResolvedRefs.',
  }),
  RevisionRejected: stalled('Synced', {
    meaning: 'Postgres refused the revision because of its content. The last stored revision keeps serving.',
    cure: 'Change what the message names, such as a character that cannot be stored, or the size.',
  }),
  RevisionAwaitsTests: {
    condition: 'Synced',
    status: 'False',
    meaning:
      'The revision that the spec asks for is not put into service until its required AgentTests have passed. The last valid revision keeps serving.',
    cure: 'See the condition Tested.',
    blocks: 'retry',
  },
  RevisionFailedTests: stalled('Synced', {
    meaning:
      'The revision that the spec asks for is not put into service, because required AgentTests failed, or cannot run as they are. The last valid revision keeps serving.',
    cure: 'Correct the agent or the AgentTest; to serve it all the same, run the command in the message, which sets `spec.release.skipTests`.',
  }),
} as const satisfies Readonly<Record<string, ReasonDefinition>>;
