/** Longest waits of the facade for the API server, in milliseconds. */
export interface KubernetesTimeouts {
  /** Wait for one answer, behind which a client waits. */
  readonly answerMs: number;
  readonly probeMs: number;
  /** Wait for the watch to deliver a write of this process. */
  readonly catchUpMs: number;
}

export const KUBERNETES_TIMEOUTS: KubernetesTimeouts = { answerMs: 10_000, probeMs: 2_000, catchUpMs: 2_000 };
