/** The elements of the page, and what is shown in them. All text goes in as text, never as HTML. */
import type { SpokenLine } from '../../../voice/calls/live-transcript.ts';
import { LATENCY_NAMES, latencyText, medianLatencies, type TurnLatencies } from '../../../voice/calls/turn-latencies.ts';
import { endingText } from '../session/failure.ts';
import { partsOf, statusText, type Phase } from '../session/phase.ts';
import type { PageAgent, PageCall } from './rest.ts';

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${type.name} #${id}`);
}

const make = (name: string, text: string): HTMLElement => {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
};

export const elements = {
  problem: element('problem', HTMLElement),
  keyForm: element('key-part', HTMLFormElement),
  key: element('key', HTMLInputElement),
  setupForm: element('setup-part', HTMLFormElement),
  agent: element('agent', HTMLSelectElement),
  data: element('data', HTMLElement),
  insecure: element('insecure', HTMLElement),
  start: element('start', HTMLButtonElement),
  call: element('call-part', HTMLElement),
  status: element('status', HTMLElement),
  clock: element('clock', HTMLElement),
  mute: element('mute', HTMLButtonElement),
  hangUp: element('hang-up', HTMLButtonElement),
  unlock: element('unlock', HTMLButtonElement),
  summary: element('summary-part', HTMLElement),
  ending: element('ending', HTMLElement),
  facts: element('facts', HTMLElement),
  latencies: element('latencies', HTMLTableElement),
  recordingNote: element('recording-note', HTMLElement),
  player: element('player', HTMLAudioElement),
  download: element('download', HTMLAnchorElement),
  again: element('again', HTMLButtonElement),
  transcriptPart: element('transcript-part', HTMLElement),
  transcript: element('transcript', HTMLElement),
  beingSaid: element('being-said', HTMLElement),
  voices: element('voices', HTMLElement),
};

export function showProblem(text: string | undefined): void {
  elements.problem.textContent = text ?? '';
  elements.problem.hidden = text === undefined;
}

export function showPhase(phase: Phase, options: { readonly muted: boolean; readonly agentState: string | undefined }): void {
  const parts = partsOf(phase);
  elements.keyForm.hidden = !parts.key;
  elements.setupForm.hidden = !parts.setup;
  elements.call.hidden = !parts.call;
  elements.summary.hidden = !parts.summary;
  elements.transcriptPart.hidden = !parts.call && !parts.summary;
  const text = statusText(phase, options);
  // Screen readers read out a status line each time it is written.
  if (elements.status.textContent !== text) elements.status.textContent = text;
  elements.mute.textContent = options.muted ? 'Unmute' : 'Mute';
  elements.mute.setAttribute('aria-pressed', String(options.muted));
  elements.mute.disabled = phase !== 'talking' && phase !== 'waiting';
  elements.hangUp.disabled = phase === 'ending';
}

export function showAgents(agents: readonly PageAgent[], wanted: string | undefined): void {
  elements.agent.replaceChildren(
    ...agents.map(({ ai_agent_id: id, agent_name: name }) => {
      const option = document.createElement('option');
      option.value = id;
      option.textContent = name === id ? name : `${name} (${id})`;
      option.selected = id === wanted;
      return option;
    }),
  );
  elements.start.disabled = agents.length === 0;
}

/** A field for each dynamic value that the agent requires. */
export function askForData(names: readonly string[]): void {
  elements.data.replaceChildren(
    ...names.flatMap((name, index) => {
      const label = document.createElement('label');
      label.htmlFor = `data-${index}`;
      label.textContent = name;
      const input = document.createElement('input');
      input.id = `data-${index}`;
      input.name = name;
      input.required = true;
      return [label, input];
    }),
  );
}

export function dataGiven(): Readonly<Record<string, string>> {
  return Object.fromEntries([...elements.data.querySelectorAll('input')].map(({ name, value }) => [name, value]));
}

/** What is being said stands below; what was said goes into the log, which is read out. */
export function showLine({ role, text, final }: SpokenLine): void {
  const who = role === 'user' ? 'You' : 'Agent';
  if (!final) {
    elements.beingSaid.textContent = `${who}: ${text}`;
  } else {
    const item = document.createElement('li');
    item.className = role;
    const speaker = make('span', `${who}: `);
    speaker.className = 'who';
    item.append(speaker, text);
    elements.transcript.append(item);
    elements.beingSaid.textContent = '';
  }
  elements.transcriptPart.scrollIntoView({ block: 'end' });
}

export function forgetCall(): void {
  for (const shown of [elements.transcript, elements.beingSaid, elements.facts, elements.voices, elements.clock]) shown.replaceChildren();
  if (elements.player.src !== '') URL.revokeObjectURL(elements.player.src);
  elements.player.removeAttribute('src');
  for (const hidden of [elements.player, elements.download, elements.latencies, elements.unlock]) hidden.hidden = true;
  elements.recordingNote.textContent = '';
}

export function showSummary(call: PageCall): void {
  elements.ending.textContent = endingText(call.call_finish_reason);
  const facts: readonly (readonly [string, string])[] = [
    ['Call', call._id],
    ['State', call.call_status],
    ['Reason', call.call_finish_reason ?? '–'],
    ['Duration', call.call_duration_seconds === undefined ? '–' : `${call.call_duration_seconds.toFixed(1)} s`],
  ];
  elements.facts.replaceChildren(...facts.flatMap(([name, value]) => [make('dt', name), make('dd', value)]));
  showLatencies(call.turns);
  elements.ending.focus();
}

function showLatencies(turns: readonly TurnLatencies[]): void {
  const names = Object.keys(LATENCY_NAMES) as (keyof TurnLatencies)[];
  const row = (heading: string, turn: TurnLatencies): HTMLElement => {
    const made = document.createElement('tr');
    const head = make('th', heading);
    head.setAttribute('scope', 'row');
    made.append(head, ...names.map((name) => make('td', latencyText(turn[name]))));
    return made;
  };
  const header = document.createElement('tr');
  for (const text of ['', ...names.map((name) => LATENCY_NAMES[name])]) {
    const head = make('th', text);
    head.setAttribute('scope', 'col');
    header.append(head);
  }
  elements.latencies.tHead?.replaceChildren(header);
  elements.latencies.tBodies[0]?.replaceChildren(
    ...turns.map((turn, index) => row(`Answer ${index + 1}`, turn)),
    ...(turns.length > 1 ? [row('Median', medianLatencies(turns))] : []),
  );
  elements.latencies.hidden = turns.length === 0;
}

export function showRecording(callId: string, recording: Blob): void {
  const address = URL.createObjectURL(recording);
  elements.player.src = address;
  elements.download.href = address;
  elements.download.download = `${callId}.ogg`;
  elements.player.hidden = false;
  elements.download.hidden = false;
  elements.recordingNote.textContent = 'The recording: you on the left, the agent on the right.';
}
