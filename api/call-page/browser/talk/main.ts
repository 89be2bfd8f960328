/** Runs the page `/call`, from the key to the recording. */
import { errorMessageOf } from '../../../../platform/caught.ts';
import type { SpokenLine } from '../../../../calls/live-transcript.ts';
import { userIdentityOf } from '../../../../calls/names.ts';
import { chosenAgent, type PageAgent } from '../../session/chosen-agent.ts';
import { microphoneText } from '../../session/failure.ts';
import { readFragment } from '../../session/fragment.ts';
import { withLine } from '../../session/live-lines.ts';
import { nextPhase, type PageEvent, type Phase } from '../../session/phase.ts';
import { isComplete, isOver, type ShownCall } from '../../session/record.ts';
import { clockText } from '../../session/texts.ts';
import { liveTimeline } from '../../session/timeline.ts';
import { make } from '../shared/dom.ts';
import { RestRefusalError, restWith, type Rest } from '../shared/rest.ts';
import { openPlayer, showRecordingNote, type Player } from '../shared/player.ts';
import { showTimeline } from '../shared/timeline-view.ts';
import { awaitRecording, pause, readUntil } from '../shared/wait.ts';
import { PageConversation, type LevelSource } from './conversation.ts';
import { startMeter, type LevelMeter } from './meter.ts';
import { askForData, dataGiven, elements, forgetCall, showAgents, showPhase, showProblem, showSummary } from './view.ts';

/** Times between readings of a call's record, and longest waits for its end, its analysis and its recording, in milliseconds. */
const READ_EVERY_MS = 1_000;
const END_EVERY_MS = 500;
const END_WITHIN_MS = 30_000;
const COMPLETE_WITHIN_MS = 120_000;
const RECORDING_WITHIN_MS = 60_000;

/** State of one call; the next call starts with a new one. */
interface CurrentCall {
  id: string | undefined;
  conversation: PageConversation;
  record: ShownCall | undefined;
  lines: readonly SpokenLine[];
  meters: LevelMeter[];
  /** Set once user and agent are in the room. */
  joined: boolean;
  /** The user hung up before joining. */
  changedMind: boolean;
  clock: ReturnType<typeof setInterval> | undefined;
  player: Player | undefined;
  /** Aborts when the page goes on to something else. */
  readonly forgotten: AbortController;
}

let phase: Phase = 'no_key';
let muted = false;
let agentState: string | undefined;
let rest: Rest | undefined;
let agents: readonly PageAgent[] = [];
let current: CurrentCall | undefined;

function show(): void {
  showPhase(phase, { muted, agentState, agent: chosen()?.agent_name ?? '' });
}

function chosen(): PageAgent | undefined {
  return agents.find(({ ai_agent_id: id }) => id === elements.agent.value);
}

function step(event: PageEvent): void {
  phase = nextPhase(phase, event);
  show();
}

function fail(error: unknown): void {
  showProblem(errorMessageOf(error));
  if (error instanceof RestRefusalError && error.status === 401) {
    rest = undefined;
    elements.key.value = '';
    step('key_refused');
    elements.key.focus();
  } else {
    step('failed');
    if (phase === 'choosing') elements.start.focus();
  }
}

async function useKey(key: string, wanted: string | undefined): Promise<void> {
  showProblem(undefined);
  const client = restWith(key);
  agents = await client.agents();
  rest = client;
  elements.key.value = '';
  const offered = chosenAgent(agents, wanted);
  showAgents(agents, offered);
  askForDataOfAgent();
  step('key');
  // A link that names a known agent leaves nothing to choose.
  if (wanted === undefined || offered.problem !== undefined) elements.agent.focus();
  else (elements.data.querySelector('input') ?? elements.start).focus();
}

function askForDataOfAgent(): void {
  askForData(chosen()?.required_dynamic_data ?? []);
}

async function call(): Promise<void> {
  if (rest === undefined || phase !== 'choosing') return;
  const client = rest;
  const data = dataGiven();
  showProblem(undefined);
  forgetCall();
  muted = false;
  agentState = undefined;
  step('call');
  elements.hangUp.focus();
  const begun = newCall();
  current = begun;
  const { conversation } = begun;
  try {
    await conversation.openMicrophone().catch((error: unknown) => {
      throw error instanceof DOMException ? new Error(microphoneText(error.name), { cause: error }) : error;
    });
    // The user hung up while there was no room to leave yet.
    if (begun.changedMind) throw new Error('hung up');
    const made = await client.createCall(elements.agent.value, data);
    if (begun.changedMind) throw new Error('hung up');
    if (made.media_url === undefined || made.access_token === undefined) throw new Error('The server gave no address to call at.');
    begun.id = made._id;
    await conversation.join(made.media_url, made.access_token, userIdentityOf(made._id)).catch((error: unknown) => {
      throw new Error(`Could not join the call at ${made.media_url}: ${String(error)}`, { cause: error });
    });
    begun.joined = true;
    step('joined');
    if (conversation.hasAgent) step('agent');
    if (!conversation.connected) void over(begun);
    void conversation.publishMicrophone().catch((error: unknown) => conversation.connected && fail(error));
    const startedAt = Date.now();
    begun.clock = setInterval(() => (elements.clock.textContent = clockText((Date.now() - startedAt) / 1_000)), 1_000);
    void followRecord(client, begun, made._id);
  } catch (error) {
    stopMeters(begun);
    await conversation.hangUp().catch(() => undefined);
    if (begun.changedMind) {
      step('failed');
      elements.start.focus();
    } else fail(error);
  }
}

function newCall(): CurrentCall {
  const meter = (canvas: HTMLCanvasElement, level: LevelSource): void => void begun.meters.push(startMeter(canvas, level));
  const begun: CurrentCall = {
    id: undefined,
    record: undefined,
    lines: [],
    meters: [],
    joined: false,
    changedMind: false,
    clock: undefined,
    player: undefined,
    forgotten: new AbortController(),
    conversation: new PageConversation({
      onAgent: () => step('agent'),
      onAgentState(state) {
        agentState = state;
        show();
      },
      onLine(line) {
        begun.lines = withLine(begun.lines, line);
        showConversation(begun);
        // Screen readers get each line once: the shown line changes with every word, and again when it is recorded.
        if (line.final) elements.spoken.append(make('p', {}, `${line.role === 'user' ? 'You' : 'Agent'}: ${line.text}`));
      },
      onMicrophone: (level) => meter(elements.userLevel, level),
      onVoice(voice, level) {
        elements.voices.append(voice);
        meter(elements.agentLevel, level);
      },
      onSilenced: (silenced) => (elements.unlock.hidden = !silenced),
      onOver: () => void (begun.joined && over(begun)),
    }),
  };
  return begun;
}

function showConversation({ record, lines, player }: CurrentCall): void {
  // The record of a call that is over is complete, and lacks words that were never heard.
  const isRecorded = record !== undefined && isOver(record);
  const { scrollHeight, scrollTop, clientHeight } = elements.scroll;
  const atEnd = scrollHeight - scrollTop - clientHeight < 40;
  showTimeline(elements.timeline, liveTimeline(record, isRecorded ? [] : lines), {
    user: 'You',
    ...(player !== undefined && { seek: (second: number) => player.seek(second) }),
  });
  // A user who has scrolled up is reading, and isn't scrolled down.
  if (atEnd) elements.scroll.scrollTop = elements.scroll.scrollHeight;
}

/** Reads tools, sources and latencies from the record: the room, which every caller may join, has none of them. */
async function followRecord(client: Rest, begun: CurrentCall, id: string): Promise<void> {
  const live = { everyMs: READ_EVERY_MS, withinMs: Infinity, signal: begun.forgotten.signal };
  const isGone = (): boolean => !begun.conversation.connected;
  const onRecord = (record: ShownCall): void => {
    if (isGone()) return;
    begun.record = record;
    showConversation(begun);
  };
  while (!isGone()) await readUntil(client, id, { ...live, done: isGone, onRecord }).catch(() => pause(READ_EVERY_MS));
}

function stopMeters({ meters }: CurrentCall): void {
  for (const meter of meters.splice(0)) meter.stop();
}

/** Shows the end of a call, once for each call, whether user or agent ended it. */
async function over(ended: CurrentCall): Promise<void> {
  clearInterval(ended.clock);
  stopMeters(ended);
  step('left');
  const { id, forgotten } = ended;
  if (phase !== 'ending' || rest === undefined || id === undefined) return;
  const client = rest;
  elements.callLink.href = `/calls#${id}`;
  elements.status.focus();
  await ended.conversation.hangUp().catch(() => undefined);
  const showRecord = (record: ShownCall): void => {
    ended.record = record;
    showConversation(ended);
    showSummary(record);
  };
  try {
    const settled = await readUntil(client, id, { done: isOver, everyMs: END_EVERY_MS, withinMs: END_WITHIN_MS, signal: forgotten.signal });
    step('settled');
    showRecord(settled);
    elements.ending.focus();
    await Promise.all([
      hear(client, ended, id),
      readUntil(client, id, {
        done: isComplete,
        record: settled,
        onRecord: showRecord,
        everyMs: READ_EVERY_MS,
        withinMs: COMPLETE_WITHIN_MS,
        signal: forgotten.signal,
      }),
    ]);
  } catch (error) {
    step('settled');
    fail(error);
  }
}

async function hear(client: Rest, ended: CurrentCall, id: string): Promise<void> {
  const { signal } = ended.forgotten;
  showRecordingNote('Waiting for the recording…');
  const recording = await awaitRecording(client, id, { signal, withinMs: RECORDING_WITHIN_MS, everyMs: END_EVERY_MS });
  if (signal.aborted) return;
  showRecordingNote(recording === undefined ? 'There is no recording of this call.' : '');
  if (recording === undefined) return;
  ended.player = openPlayer(id, recording);
  showConversation(ended);
}

function takeFragment(): void {
  const { key, agent } = readFragment(location.hash);
  if (key === undefined) return;
  // The key leaves the address bar and the history.
  history.replaceState(null, '', location.pathname);
  void useKey(key, agent).catch(fail);
}

elements.keyForm.addEventListener('submit', (event) => {
  event.preventDefault();
  void useKey(elements.key.value.trim(), readFragment(location.hash).agent).catch(fail);
});
elements.setupForm.addEventListener('submit', (event) => {
  event.preventDefault();
  void call().catch(fail);
});
elements.agent.addEventListener('change', () => {
  showProblem(undefined);
  askForDataOfAgent();
});
elements.mute.addEventListener('click', () => {
  muted = !muted;
  show();
  void current?.conversation.mute(muted).catch(fail);
});
elements.hangUp.addEventListener('click', () => {
  if (current === undefined) return;
  current.changedMind = true;
  void current.conversation.hangUp();
});
elements.unlock.addEventListener('click', () => void current?.conversation.turnSoundOn());
elements.callLink.addEventListener('click', (event) => {
  if (rest === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
  // The next page takes the key out of its address at once, as this one does.
  event.preventDefault();
  location.assign(`${elements.callLink.href}&key=${encodeURIComponent(rest.keyForLink)}`);
});
elements.again.addEventListener('click', () => {
  current?.forgotten.abort();
  current?.player?.close();
  current = undefined;
  forgetCall();
  step('again');
  if (rest === undefined) {
    // The key was refused after the call: the problem, which stays, says so.
    step('key_refused');
    elements.key.focus();
  } else {
    showProblem(undefined);
    elements.start.focus();
  }
});
addEventListener('hashchange', takeFragment);

elements.insecure.hidden = isSecureContext;
show();
takeFragment();
if (phase === 'no_key') elements.key.focus();
