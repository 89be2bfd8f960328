/**
 * Where a person is on the page.
 *
 *   no_key ──key──▶ choosing ──call──▶ connecting ──joined──▶ waiting ──agent──▶ talking
 *     ▲              │  ▲  ▲                │                    │                  │
 *     └─key refused──┘  │  └────failed──────┘                   left               left
 *                       │                                        ▼                  │
 *                       └────again──── over ◀────settled────── ending ◀─────────────┘
 */
export type Phase = 'no_key' | 'choosing' | 'connecting' | 'waiting' | 'talking' | 'ending' | 'over';

export type PageEvent = 'key' | 'key_refused' | 'call' | 'joined' | 'agent' | 'left' | 'settled' | 'failed' | 'again';

const steps: Readonly<Record<Phase, Partial<Readonly<Record<PageEvent, Phase>>>>> = {
  no_key: { key: 'choosing' },
  choosing: { key_refused: 'no_key', call: 'connecting' },
  connecting: { joined: 'waiting', failed: 'choosing', key_refused: 'no_key' },
  waiting: { agent: 'talking', left: 'ending' },
  talking: { left: 'ending' },
  ending: { settled: 'over' },
  over: { again: 'choosing' },
};

/** Returns the next phase. An event that doesn't fit changes nothing: an agent event after the end starts no new call. */
export function nextPhase(phase: Phase, event: PageEvent): Phase {
  return steps[phase][event] ?? phase;
}

export type PagePart = 'key' | 'setup' | 'call' | 'summary';

const parts: Readonly<Record<Phase, PagePart>> = {
  no_key: 'key',
  choosing: 'setup',
  connecting: 'call',
  waiting: 'call',
  talking: 'call',
  ending: 'call',
  over: 'summary',
};

export function partOf(phase: Phase): PagePart {
  return parts[phase];
}

export function statusText(phase: Phase, options: { readonly muted: boolean; readonly agentState: string | undefined }): string {
  switch (phase) {
    case 'connecting':
      return 'Connecting…';
    case 'waiting':
      return 'Waiting for the agent…';
    case 'talking': {
      if (options.muted) return 'You are muted.';
      if (options.agentState === 'speaking') return 'The agent speaks.';
      return options.agentState === 'thinking' ? 'The agent thinks.' : 'The agent listens.';
    }
    case 'ending':
      return 'The call is over; its record is being read…';
    default:
      return '';
  }
}
