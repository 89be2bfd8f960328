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
      'The revision that `spec.release.pin` names has not served here, and `onMissing` is `Hold`: what served before goes on, and nothing new comes into service.',
    cure: 'Pin a revision that `kubectl parley history agent/<name> -o wide` lists, set `spec.release.pin.onMissing: Serve`, or remove the pin.',
  }),
  PinPassedOver: {
    condition: 'Synced',
    status: 'True',
    meaning:
      'The revision that `spec.release.pin` names has not served here, and `onMissing` is `Serve`: new calls start with what the spec asks for.',
    cure: 'Remove the pin where it is not needed here.',
  },
  CanaryRunning: {
    condition: 'Synced',
    status: 'True',
    meaning: 'A part of the new calls starts with the revision that the spec asks for (`spec.release.canary`).',
    cure: 'Wait, or `kubectl parley promote agent/<name>` or `kubectl parley rollback agent/<name>`; `kubectl parley history agent/<name>` shows its figures.',
    progressing: 'True',
  },
  CanaryAborted: {
    condition: 'Synced',
    status: 'False',
    meaning:
      'The canary of the revision that the spec asks for was worse than `spec.release.canary.abortOn` allows. New calls start with the former revision.',
    cure: 'Correct the agent, or edit it back and ask for the revision again to try it once more; `kubectl parley promote agent/<name>` serves it all the same.',
    blocks: 'person',
    progressing: 'False',
  },
  RolledBack: {
    condition: 'Synced',
    status: 'False',
    meaning:
      'The revision that the spec asks for, or one with the same change, was rolled back. New calls start with a former revision, whatever becomes of tools, names and Secrets.',
    cure: 'Correct what was rolled back; `kubectl parley promote agent/<name>` serves the revision again.',
    blocks: 'person',
    progressing: 'False',
  },
} as const satisfies Readonly<Record<string, ReasonDefinition>>;
