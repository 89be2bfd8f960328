/**
 * Every reason that a condition can carry. Reasons are part of the API: scripts and alerts match on them, so they are
 * written down once, here, and the reference page is generated from this table.
 */

import { acceptedReasons } from './accepted-reasons.ts';
import { agentReasons } from './agent-reasons.ts';
import { releaseReasons } from './release-reasons.ts';
import { toolReasons } from './tool-reasons.ts';
import { stalled, type ReasonDefinition } from './reason-definition.ts';

export { conditionTypes, type ConditionType, type ReasonDefinition } from './reason-definition.ts';

const table = {
  Available: { condition: 'Ready', status: 'True', meaning: 'The object is accepted, everything it names exists, and it is in use.' },
  Suspended: {
    condition: 'Suspended',
    status: 'True',
    meaning:
      '`spec.suspend` is true: changes are ignored, what was in use stays in use; the agents of a Tool follow its changes all the same, and a WebhookSubscription sends nothing: events are recorded and can be redelivered, retries wait. There is no `Ready` meanwhile.',
    cure: 'Set `spec.suspend` to false, or remove it, to resume.',
  },
  Deleting: {
    condition: 'Ready',
    status: 'False',
    meaning: 'The object is being deleted, and the operator releases what belongs to it.',
    blocks: 'retry',
  },

  ...acceptedReasons,

  ReferencesResolved: { condition: 'ResolvedRefs', status: 'True', meaning: 'Everything the object names exists and can be used.' },
  SecretNotFound: stalled('ResolvedRefs', {
    meaning: 'A Secret that the spec names does not exist. Heals when it appears.',
    cure: 'Create the Secret in the same namespace, or change the reference.',
  }),
  SecretKeyNotFound: stalled('ResolvedRefs', {
    meaning: 'A Secret exists but lacks the key that the spec names. Heals when the key appears.',
    cure: 'Add the key to the Secret, or change the reference.',
  }),
  ConfigMapNotFound: stalled('ResolvedRefs', {
    meaning: 'A ConfigMap that the spec names does not exist. Heals when it appears.',
    cure: 'Create the ConfigMap in the same namespace, or change the reference.',
  }),
  ConfigMapKeyNotFound: stalled('ResolvedRefs', {
    meaning: 'A ConfigMap exists but lacks the key that the spec names. Heals when the key appears.',
    cure: 'Add the key to the ConfigMap, or change the reference.',
  }),
  ReferenceForbidden: stalled('ResolvedRefs', {
    meaning: 'The operator may not read a Secret or ConfigMap that the spec names.',
    cure: "Grant the operator's service account `get` on it in this namespace.",
  }),
  PromptTooLarge: stalled('ResolvedRefs', {
    meaning: 'The system prompt in the ConfigMap is larger than 128 KiB, or is binary.',
    cure: 'Shorten it, and keep it under `data`.',
  }),
  SourceNotText: stalled('ResolvedRefs', {
    meaning: 'The ConfigMap key of a source is binary, or larger than 1 MiB. The other sources are read all the same.',
    cure: 'Keep text under `data`, or upload it as a document.',
  }),
  AgentNotFound: stalled('ResolvedRefs', {
    meaning: 'An Agent that the spec names does not exist or is being deleted. Heals when it appears.',
    cure: 'Create the Agent in the same namespace, or change the reference.',
  }),
  KnowledgeBaseNotFound: stalled('ResolvedRefs', {
    meaning:
      'The KnowledgeBase that the spec names does not exist or is being deleted. An agent that has served continues without it; a new one waits. Heals when it appears.',
    cure: 'Create the KnowledgeBase in the same namespace, or change the reference.',
  }),
  ToolNotUsable: stalled('ResolvedRefs', {
    meaning: 'A tool that attached itself to the agent is not usable. An agent that has served continues without it; a new one waits.',
    cure: 'Correct the Tool that the message names, or detach it.',
  }),
  SecretNotOwned: stalled('ResolvedRefs', {
    meaning: 'The Secret in which the operator would generate a signing key exists already and belongs to something else.',
    cure: 'Delete that Secret, add the key `current` to it, or name another one in `spec.signing` with mode Secret.',
  }),
  SigningKeyInvalid: stalled('ResolvedRefs', {
    meaning: 'A signing key in the Secret cannot be used. Deliveries wait where it is the current one.',
    cure: 'Write each key as `whsec_` followed by 24 to 64 random bytes in base64.',
  }),
  HeaderValueInvalid: stalled('ResolvedRefs', {
    meaning: 'The value of a header in a Secret cannot be sent. Deliveries wait.',
    cure: 'Keep a single line of text without control characters in the Secret.',
  }),

  ...agentReasons,
  ...releaseReasons,
  ...toolReasons,
  StoreUnavailable: {
    condition: 'Synced',
    status: 'False',
    meaning: 'Postgres does not answer or cannot be used. What was stored before stays in use; the operator retries.',
    cure: 'Restore Postgres (DATABASE_URL of the operator), or run `parley migrate` where the message says so.',
    blocks: 'retry',
  },
  MediaServerNotConfigured: {
    condition: 'Synced',
    status: 'Unknown',
    meaning: 'The operator has no media server, so the number is not connected to anything. Does not affect Ready.',
    cure: 'Set LIVEKIT_URL to connect phone numbers.',
  },
  MediaServerWithoutTrunks: {
    condition: 'Synced',
    status: 'False',
    meaning: 'The media server keeps no trunks, so the number is not connected to anything. Web calls work. Does not affect Ready.',
    cure: 'Run LiveKit with Redis, and with its SIP service.',
  },
  MediaServerUnavailable: {
    condition: 'Synced',
    status: 'False',
    meaning: 'The media server does not answer. What was connected stays connected; the operator retries.',
    cure: 'Restore the media server (LIVEKIT_URL of the operator).',
    blocks: 'retry',
  },
  MediaServerRefusesKey: stalled('Synced', {
    meaning: 'The media server does not let the operator create trunks.',
    cure: 'Set LIVEKIT_API_KEY and LIVEKIT_API_SECRET to a key of the media server.',
  }),
  TrunksReady: {
    condition: 'Synced',
    status: 'True',
    meaning: 'The media server has the trunks of the number, and calls find its route.',
  },
  TrunksPending: {
    condition: 'Synced',
    status: 'False',
    meaning: 'The trunks of the number are about to be created, or changed to what the spec says.',
    blocks: 'retry',
  },
  TrunksWithheld: {
    condition: 'Synced',
    status: 'False',
    meaning:
      'The number is not connected until its spec is accepted and everything it names exists. Once it has been connected, only its trunks wait for a Secret; changes of its agents apply.',
    cure: 'See the conditions Accepted and ResolvedRefs.',
  },
  TrunkRefused: stalled('Synced', {
    meaning:
      'The media server refuses a trunk or rule of the number, for example because of a conflicting one that was created outside Parley.',
    cure: 'Remove at the media server what the message names, or correct the spec.',
  }),
  TerminationNotConfigured: {
    condition: 'Synced',
    status: 'False',
    meaning:
      'An agent is to call from the number, and nothing says through which trunk. Calls to the number are answered. Does not affect Ready.',
    cure: 'Set `spec.sip.terminationURI`; with type Native or Carrier, set what the message names.',
  },
  CollectionReady: { condition: 'Synced', status: 'True', meaning: 'Documents can be put into the knowledge base and found in it.' },
  CollectionPending: {
    condition: 'Synced',
    status: 'False',
    meaning: 'The collection behind the knowledge base is about to be created, or changed to what the spec says.',
    blocks: 'retry',
  },
  CollectionWithheld: stalled('Synced', {
    meaning:
      'The operator creates and changes nothing for the knowledge base, because the spec is not accepted. Its documents can still be found.',
    cure: 'See the condition Accepted.',
  }),
  DocumentsInProgress: {
    condition: 'Ingesting',
    status: 'True',
    meaning: 'Documents are being read. What has been read before can be found meanwhile, so this does not change `Ready`.',
  },
  DocumentsSettled: {
    condition: 'Ingesting',
    status: 'False',
    meaning: 'No document is being read: each can be found, or has failed.',
  },
  EmbeddingModelMismatch: stalled('Synced', {
    meaning:
      'The existing documents were embedded with another model than the one that the embedding profile has now. Vectors of two models cannot be mixed, so no document is added.',
    cure: 'Give the profile its former model again, or create a knowledge base with another name.',
  }),
  Delivering: { condition: 'Synced', status: 'True', meaning: 'Events that match the subscription are delivered to its address.' },
  DeliveryHeldUp: stalled('Synced', {
    meaning: 'Deliveries wait, because a Secret that they need is missing or cannot be used. They resume once it can.',
    cure: 'See the condition ResolvedRefs.',
  }),
  AutoDisabled: stalled('Synced', {
    meaning:
      'Nothing is sent any more, because every attempt failed for days, or because the endpoint answered 410 Gone. `status.autoDisabled` says since when and why.',
    cure: 'Repair the endpoint, then set the annotation `parley.dev/reconcile-requested-at` to the present time, change the spec, or set `active` to true over REST: each switches the subscription on again. What was not delivered can be recovered.',
  }),

  CircuitBreakerClosed: {
    condition: 'EndpointHealthy',
    status: 'True',
    meaning: 'Deliveries are sent as soon as they are due: the endpoint accepts them, or has not failed often enough to pause.',
  },
  CircuitBreakerOpen: {
    condition: 'EndpointHealthy',
    status: 'False',
    meaning:
      'Nearly all attempts of a minute failed, so deliveries wait: one of them is attempted from time to time, after 5 minutes at most, and the others follow once one succeeds. Nothing is lost meanwhile.',
    cure: 'Repair the endpoint; `parley webhooks attempts` shows what it answered, and `parley webhooks test` sends an event at once.',
    blocks: 'retry',
  },

  Retrying: {
    condition: 'Reconciling',
    status: 'True',
    meaning: 'The operator is still working on this object and retries.',
  },
  WaitingForReferences: {
    condition: 'Reconciling',
    status: 'True',
    meaning:
      'Something that the spec names is not there, and may be on its way: the operator waits for `PARLEY_REFERENCE_GRACE_MS` before it sets `Stalled`.',
  },
} as const satisfies Record<string, ReasonDefinition>;

export type Reason = keyof typeof table;

export const reasons: Readonly<Record<Reason, ReasonDefinition>> = table;

/** Failure as a value: it keeps one stage of an object from being True. */
export interface Problem {
  readonly reason: Reason;
  /** Names the thing and what to do; never holds a value from a Secret. */
  readonly message: string;
}
