/** Finds the elements of the page `/call`, and fills them. */
import { partOf, statusText, type Phase } from '../../session/phase.ts';
import { agentLabel, type ChosenAgent, type PageAgent } from '../../session/chosen-agent.ts';
import { readNamedValues } from '../../session/named-values.ts';
import { endingOf } from '../../session/outcome.ts';
import type { ShownCall } from '../../session/record.ts';
import { clockText, plainName } from '../../session/texts.ts';
import { element, make } from '../shared/dom.ts';
import { showRecordingNote } from '../shared/player.ts';
import type { CallData } from '../shared/rest.ts';
import { commonFacts, showAnalysis, showFacts, showMedian } from '../shared/record-view.ts';

export const elements = {
  main: element('main', HTMLElement),
  title: element('title', HTMLElement),
  problem: element('problem', HTMLElement),
  keyForm: element('key-part', HTMLFormElement),
  key: element('key', HTMLInputElement),
  setupForm: element('setup-part', HTMLFormElement),
  agent: element('agent', HTMLSelectElement),
  data: element('data', HTMLElement),
  dataLines: element('data-lines', HTMLTextAreaElement),
  metadataLines: element('metadata-lines', HTMLTextAreaElement),
  insecure: element('insecure', HTMLElement),
  start: element('start', HTMLButtonElement),
  call: element('call-part', HTMLElement),
  status: element('status', HTMLElement),
  clock: element('clock', HTMLElement),
  userLevel: element('user-level', HTMLCanvasElement),
  agentLevel: element('agent-level', HTMLCanvasElement),
  mute: element('mute', HTMLButtonElement),
  hangUp: element('hang-up', HTMLButtonElement),
  unlock: element('unlock', HTMLButtonElement),
  summary: element('summary-part', HTMLElement),
  ending: element('ending', HTMLElement),
  facts: element('facts', HTMLElement),
  callLink: element('call-link', HTMLAnchorElement),
  median: element('median', HTMLElement),
  analysis: element('analysis', HTMLElement),
  again: element('again', HTMLButtonElement),
  conversation: element('conversation-part', HTMLElement),
  record: element('record-part', HTMLElement),
  scroll: element('scroll', HTMLElement),
  timeline: element('timeline', HTMLElement),
  spoken: element('spoken', HTMLElement),
  voices: element('voices', HTMLElement),
};

export function showProblem(text: string | undefined): void {
  elements.problem.textContent = text ?? '';
  elements.problem.hidden = text === undefined;
}

export interface ShownPhase {
  readonly muted: boolean;
  readonly agentState: string | undefined;
  /** Name of the agent that is called. */
  readonly agent: string;
}

export function showPhase(phase: Phase, options: ShownPhase): void {
  const part = partOf(phase);
  const isCall = part === 'call' || part === 'summary';
  elements.main.dataset['part'] = part;
  elements.title.textContent = isCall ? options.agent : 'Talk to an agent';
  elements.keyForm.hidden = part !== 'key';
  elements.setupForm.hidden = part !== 'setup';
  elements.call.hidden = part !== 'call';
  elements.summary.hidden = part !== 'summary';
  elements.record.hidden = part !== 'summary';
  elements.conversation.hidden = part === 'key';
  const text = statusText(phase, options);
  // Screen readers read out a status line each time it is written.
  if (elements.status.textContent !== text) elements.status.textContent = text;
  elements.status.dataset['speaker'] = phase === 'talking' ? (options.agentState ?? '') : '';
  elements.mute.textContent = options.muted ? 'Unmute' : 'Mute';
  elements.mute.setAttribute('aria-pressed', String(options.muted));
  elements.mute.disabled = phase !== 'talking' && phase !== 'waiting';
  elements.hangUp.disabled = phase === 'ending';
}

export function showAgents(agents: readonly PageAgent[], { agent, problem }: ChosenAgent): void {
  elements.agent.replaceChildren(...agents.map((one) => make('option', { value: one.ai_agent_id }, agentLabel(one, agents))));
  if (agent !== undefined) elements.agent.value = agent.ai_agent_id;
  elements.start.disabled = agents.length === 0;
  showProblem(problem);
}

/** Shows a field for each dynamic value that the agent requires. */
export function askForData(names: readonly string[]): void {
  elements.data.replaceChildren(
    ...names.flatMap((name, index) => [
      make('label', { for: `data-${index}`, title: name }, plainName(name)),
      make('input', { id: `data-${index}`, name, required: '', autocomplete: 'off' }),
    ]),
  );
}

/** @throws Error where a line of the other data, or of the metadata, has no name */
export function dataGiven(): CallData {
  const required = [...elements.data.querySelectorAll('input')].map(({ name, value }) => [name, value] as const);
  return {
    native_llm_dynamic_data: { ...readNamedValues(elements.dataLines.value), ...Object.fromEntries(required) },
    metadata: readNamedValues(elements.metadataLines.value),
  };
}

export function forgetCall(): void {
  for (const shown of [elements.timeline, elements.spoken, elements.facts, elements.voices, elements.clock]) shown.replaceChildren();
  for (const part of [elements.median, elements.analysis, elements.unlock]) part.hidden = true;
  showRecordingNote('');
}

export function showSummary(call: ShownCall): void {
  const { text, code } = endingOf(call);
  elements.ending.textContent = text;
  elements.ending.title = code;
  showFacts(elements.facts, [
    { name: 'Duration', text: call.call_duration_seconds === undefined ? '–' : clockText(call.call_duration_seconds) },
    ...commonFacts(call),
  ]);
  showMedian(elements.median, call);
  showAnalysis(elements.analysis, call.post_call_analysis);
}
