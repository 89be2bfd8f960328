/** The elements of the page `/call`, and what is shown in them. */
import { partsOf, statusText, type Phase } from '../../session/phase.ts';
import type { ChosenAgent, PageAgent } from '../../session/chosen-agent.ts';
import { endingText } from '../../session/failure.ts';
import type { ShownCall } from '../../session/record.ts';
import { element, facts, make } from '../shared/dom.ts';
import { showAnalysis, showMedian } from '../shared/record-view.ts';

export const elements = {
  main: element('main', HTMLElement),
  problem: element('problem', HTMLElement),
  keyForm: element('key-part', HTMLFormElement),
  key: element('key', HTMLInputElement),
  setupForm: element('setup-part', HTMLFormElement),
  agent: element('agent', HTMLSelectElement),
  data: element('data', HTMLElement),
  insecure: element('insecure', HTMLElement),
  start: element('start', HTMLButtonElement),
  call: element('call-part', HTMLElement),
  agentName: element('agent-name', HTMLElement),
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
  recordingNote: element('recording-note', HTMLElement),
  player: element('player', HTMLAudioElement),
  download: element('download', HTMLAnchorElement),
  again: element('again', HTMLButtonElement),
  conversation: element('conversation-part', HTMLElement),
  scroll: element('scroll', HTMLElement),
  timeline: element('timeline', HTMLElement),
  spoken: element('spoken', HTMLElement),
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
  elements.conversation.hidden = !parts.call && !parts.summary;
  elements.main.classList.toggle('wide', !elements.conversation.hidden);
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
  elements.agent.replaceChildren(
    ...agents.map(({ ai_agent_id: id, agent_name: name }) => make('option', { value: id }, name === id ? name : `${name} (${id})`)),
  );
  if (agent !== undefined) elements.agent.value = agent.ai_agent_id;
  elements.start.disabled = agents.length === 0;
  showProblem(problem);
}

/** A field for each dynamic value that the agent requires. */
export function askForData(names: readonly string[]): void {
  elements.data.replaceChildren(
    ...names.flatMap((name, index) => [
      make('label', { for: `data-${index}` }, name),
      make('input', { id: `data-${index}`, name, required: '' }),
    ]),
  );
}

export function dataGiven(): Readonly<Record<string, string>> {
  return Object.fromEntries([...elements.data.querySelectorAll('input')].map(({ name, value }) => [name, value]));
}

export function forgetCall(): void {
  for (const shown of [elements.timeline, elements.spoken, elements.facts, elements.voices, elements.clock]) shown.replaceChildren();
  if (elements.player.src !== '') URL.revokeObjectURL(elements.player.src);
  elements.player.removeAttribute('src');
  const hidden = [elements.player, elements.download, elements.median, elements.analysis, elements.unlock];
  for (const part of hidden) part.hidden = true;
  elements.recordingNote.textContent = '';
}

export function showSummary(call: ShownCall): void {
  elements.ending.textContent = endingText(call.call_finish_reason);
  elements.facts.replaceChildren(
    ...facts([
      ['Agent', call.ai_agent_name],
      ['State', call.call_status],
      ['Reason', call.call_finish_reason ?? '–'],
      ['Duration', call.call_duration_seconds === undefined ? '–' : `${call.call_duration_seconds.toFixed(1)} s`],
      ['Call', make('code', {}, call._id)],
    ]),
  );
  showMedian(elements.median, call);
  showAnalysis(elements.analysis, call.post_call_analysis);
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
