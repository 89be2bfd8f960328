/** How long the facade waits for the API server, in milliseconds. */
export interface KubernetesTimeouts {
  /** For one answer: a client waits behind it. */
  readonly answerMs: number;
  /** For the answer to the question whether the server is there. */
  readonly probeMs: number;
  /** For the watch to deliver a write of this process. */
  readonly catchUpMs: number;
}

export const KUBERNETES_TIMEOUTS: KubernetesTimeouts = { answerMs: 10_000, probeMs: 2_000, catchUpMs: 2_000 };
