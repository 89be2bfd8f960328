/** Shows the live part of a call that goes on: words as they come, the agent's state, and what a supervisor may do. */
import type { SpokenLine } from '../../../../calls/live-transcript.ts';
import { errorMessageOf } from '../../../../platform/caught.ts';
import { withLine } from '../../session/live-lines.ts';
import { liveStateText, type LiveState } from '../../session/live-state.ts';
import type { ShownCall } from '../../session/record.ts';
import type { Rest } from '../shared/rest.ts';
import { pause } from '../shared/wait.ts';
import type * as Joining from './listen.ts';
import { elements } from './view.ts';

/** Pause before the events are asked for once more, in milliseconds. */
const AGAIN_MS = 2_000;

export interface LivePart {
  /** Number of messages that the record had before. */
  readonly before: number;
  /** Lines that may be ahead of the record. */
  readonly lines: readonly SpokenLine[];
  close(): void;
}

/** @param onLines called when a line has grown */
export function openLive(rest: Rest, { _id: id, messages }: ShownCall, onLines: () => void): LivePart {
  const closed = new AbortController();
  const { signal } = closed;
  const { liveForm, liveWords, say, instruct, muteAgent, listen, takeOver } = elements;
  let lines: readonly SpokenLine[] = [];
  let state: LiveState | undefined;
  let last: string | undefined;
  /** Leaves the room, where this page has joined it. */
  let leave: (() => Promise<void>) | undefined;

  const note = (text: string): void => void (elements.liveNote.textContent = text);
  const show = (): void => {
    elements.liveState.textContent = liveStateText(state);
    muteAgent.setAttribute('aria-pressed', String(state?.muted === true));
    muteAgent.disabled = state?.taken_over === true;
  };
  const attempt = (work: () => Promise<string>): void =>
    void work().then(
      (text) => signal.aborted || note(text),
      (error: unknown) => signal.aborted || note(errorMessageOf(error)),
    );
  const tell = (command: 'say' | 'instructions', done: string): void => {
    const text = liveWords.value.trim();
    if (text === '') return liveWords.focus();
    attempt(async () => {
      await rest.command(id, command, { text });
      liveWords.value = '';
      liveWords.focus();
      return done;
    });
  };
  const enter = (button: HTMLButtonElement, how: 'listen' | 'take-over'): void =>
    attempt(async () => {
      if (leave !== undefined) {
        await leave();
        return '';
      }
      const [{ access_token: token, media_url: url }, { join }] = await Promise.all([rest.enter(id, how), importJoin()]);
      button.setAttribute('aria-pressed', 'true');
      const onOver = (): void => {
        leave = undefined;
        button.setAttribute('aria-pressed', 'false');
        elements.liveVoices.replaceChildren();
      };
      leave = await join({ url, token, microphone: how === 'take-over', onVoice: (voice) => elements.liveVoices.append(voice), onOver });
      if (signal.aborted) await leave?.();
      return how === 'listen' ? 'You hear the call. Nobody in it knows.' : 'You speak with the user. The agent is silent until you leave.';
    });

  const listeners: readonly (readonly [HTMLElement, string, (event: Event) => void])[] = [
    [
      liveForm,
      'submit',
      (event) => {
        event.preventDefault();
        tell('say', 'The agent says it.');
      },
    ],
    [instruct, 'click', () => tell('instructions', 'The model knows it from its next answer on.')],
    [
      muteAgent,
      'click',
      () =>
        attempt(async () => {
          await rest.command(id, 'mute', { muted: state?.muted !== true });
          return '';
        }),
    ],
    [listen, 'click', () => enter(listen, 'listen')],
    [takeOver, 'click', () => enter(takeOver, 'take-over')],
  ];
  for (const [element, name, listener] of listeners) element.addEventListener(name, listener, { signal });

  const onEvent = (event: string, data: unknown): void => {
    if (signal.aborted) return;
    if (event === 'state') {
      state = data as LiveState;
      show();
    } else if (event === 'words') {
      const { line, ...said } = data as Omit<SpokenLine, 'id'> & { readonly line: string };
      lines = withLine(lines, { id: line, ...said });
      onLines();
    }
  };
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      await rest
        .events(id, { after: last, signal, onEvent: (event) => onEvent(event.event, event.data), onId: (eventId) => (last = eventId) })
        .catch(() => undefined);
      if (last?.endsWith('-end') === true) return;
      await pause(AGAIN_MS);
    }
  };
  const offer = async (): Promise<void> => {
    const { control, listen: mayListen } = await rest.may();
    if (signal.aborted) return;
    for (const element of [liveForm, say, instruct, muteAgent, takeOver]) element.hidden = !control;
    listen.hidden = !mayListen;
  };
  note('');
  show();
  elements.livePart.hidden = false;
  attempt(async () => {
    await offer();
    return '';
  });
  void follow();
  return {
    before: messages.length,
    get lines() {
      return lines;
    },
    close() {
      closed.abort();
      elements.livePart.hidden = true;
      void leave?.();
    },
  };
}

/** Loads the script that joins rooms when it is first needed. */
async function importJoin(): Promise<typeof Joining> {
  const script: string = '/call/listen.js';
  return (await import(script)) as typeof Joining;
}
