/** Reasons why new calls of an agent, or some of them, start with another revision than the one that its spec asks for. */
import { stalled, type ReasonDefinition } from './reason-definition.ts';

export const releaseReasons = {
  RevisionPinned: {
    condition: 'Synced',
    status: 'True',
    meaning: 'New calls start with the revision that `spec.release.pin` names, whatever else the spec asks for.',
  },
  PinNotFound: stalled('Synced', {
    meaning:
      '`spec.release.pin` names no revision of the agent that has served here, or the beginning of several. New calls start with what the spec asks for.',
    cure: 'Name a revision that `kubectl parley history agent/<name>` lists, or remove the pin.',
  }),
  CanaryRunning: {
    condition: 'Synced',
    status: 'False',
    meaning: 'A part of the new calls starts with the revision that the spec asks for (`spec.release.canary`). Does not affect Ready.',
    cure: 'Wait, or `kubectl parley promote agent/<name>` or `kubectl parley rollback agent/<name>`; `kubectl parley history agent/<name>` shows its figures.',
    accompanied: 'Progressing',
  },
  CanaryAborted: {
    condition: 'Synced',
    status: 'False',
    meaning:
      'The canary of the revision that the spec asks for was worse than `spec.release.canary.abortOn` allows. New calls start with the former revision.',
    cure: 'Correct the agent, or edit it back and ask for the revision again to try it once more; `kubectl parley promote agent/<name>` serves it all the same.',
    blocks: 'person',
    accompanied: 'Degraded',
  },
  RolledBack: {
    condition: 'Synced',
    status: 'False',
    meaning:
      'The revision that the spec asks for, or one with the same change, was rolled back. New calls start with a former revision, whatever becomes of tools, names and Secrets.',
    cure: 'Correct what was rolled back; `kubectl parley promote agent/<name>` serves the revision again.',
    blocks: 'person',
    accompanied: 'Degraded',
  },
} as const satisfies Readonly<Record<string, ReasonDefinition>>;
