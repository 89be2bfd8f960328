/** Names and queue of the workflows of retries, for those who start them and those who run them. */

/**
 * Retries have workers and a limit of their own: they wait behind nothing else, and nothing waits behind them.
 *
 * @param prefix the installation's task queue, `parley` by default
 */
export const deliveryQueue = (prefix: string): string => `${prefix}-delivery`;

export const DELIVERY_WORKFLOW = 'deliverWithRetries';

/** Returns one id for each event and endpoint: a workflow that is started twice runs once. @param delivery.eventId uuid */
export const deliveryWorkflowId = (delivery: { readonly subscriptionUid: string; readonly eventId: string }): string =>
  `delivery/${delivery.subscriptionUid}/evt_${delivery.eventId}`;

/** Keyword search attributes of these workflows. */
export const deliverySearchAttributes = ['ParleyOrganization', 'ParleySubscription'] as const;

/** A workflow's history holds nothing else of what it delivers. */
export interface DeliveryJob {
  /** uuid */
  readonly deliveryId: string;
  readonly subscriptionUid: string;
}

/**
 * Temporal's timers are up to a second late, in milliseconds: they are set earlier by as much, and a workflow that is woken early waits for
 * the rest himself. Measured on 1.32: a timer of 2 s fires after 2.0 to 3.0 s.
 */
export const TIMER_LEAD_MS = 1_000;
