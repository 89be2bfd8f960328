/** The six kinds of `parley.dev/v1beta1`. */
import { agentTestKind } from './agent-test.ts';
import { agentKind } from './agent.ts';
import { knowledgeBaseKind } from './knowledge-base.ts';
import { phoneNumberKind } from './phone-number.ts';
import { toolKind } from './tool.ts';
import { webhookSubscriptionKind } from './webhook-subscription.ts';

export * from './agent-test.ts';
export * from './agent.ts';
export * from './companion-name.ts';
export * from './delivery-header.ts';
export * from './kind.ts';
export * from './knowledge-base.ts';
export * from './phone-number.ts';
export * from './tool.ts';
export * from './webhook-subscription.ts';

/** Kinds in the order in which people meet them. */
export const kinds = [agentKind, toolKind, phoneNumberKind, knowledgeBaseKind, webhookSubscriptionKind, agentTestKind] as const;

/** Labels and annotations that mean something to Parley. */
export const wellKnown = {
  /** Namespace label, value `true`: the namespace is an organisation. */
  organizationLabel: 'parley.dev/organization',
  workspaceLabel: 'parley.dev/workspace',
  /** Annotation: a new value forces one reconcile; echoed in `status.lastHandledReconcileAt`. */
  reconcileRequestedAt: 'parley.dev/reconcile-requested-at',
  /** Annotation: `created_by_user_id` of an object made over REST. */
  createdBy: 'parley.dev/created-by',
  /** Annotation: names the trace in which the facade wrote a generation; see `trace-annotation.ts`. */
  trace: 'parley.dev/trace',
  /** Annotation of a signing Secret: `{"previous-1": "RFC 3339"}` ends a former key; one without a date signs until it is taken out. */
  signingExpiry: 'parley.dev/signing-expiry',
  /** Label of a Secret or ConfigMap that Parley keeps for an object: its kind in lower case. A restore may drop the owner, not this. */
  companionOf: 'parley.dev/companion-of',
  finalizer: 'parley.dev/finalizer',
} as const;
