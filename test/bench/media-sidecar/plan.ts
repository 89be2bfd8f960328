/** What a process of agents reads from its standard input. */
export interface AgentsPlan {
  readonly rooms: readonly { readonly url: string; readonly token: string; /** File of the recording tap. */ readonly tap: string }[];
  /** The sidecar's program and socket; rtc-node in this process where absent. */
  readonly sidecar?: { readonly program: string; readonly socket: string };
}

/** Of what is heard and what is said, in Hz. */
export const HEAR_RATE = 16_000;
export const SAY_RATE = 24_000;
