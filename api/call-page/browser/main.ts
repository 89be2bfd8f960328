/** What happens on the page, from the key to the recording. */
import { userIdentityOf } from '../../../voice/calls/names.ts';
import { microphoneText } from '../session/failure.ts';
import { readFragment } from '../session/fragment.ts';
import { nextPhase, type PageEvent, type Phase } from '../session/phase.ts';
import { PageConversation } from './conversation.ts';
import { RestRefusalError, restWith, type PageAgent, type PageCall, type Rest } from './rest.ts';
import {
  askForData,
  dataGiven,
  elements,
  forgetCall,
  showAgents,
  showLine,
  showPhase,
  showProblem,
  showRecording,
  showSummary,
} from './view.ts';

/** How long the end of a call, and then its recording, are waited for, and how often they are asked for, in milliseconds. */
const endWithinMs = 30_000;
const recordingWithinMs = 60_000;
const askEveryMs = 500;

let phase: Phase = 'no_key';
let muted = false;
let agentState: string | undefined;
let rest: Rest | undefined;
let agents: readonly PageAgent[] = [];
let conversation: PageConversation | undefined;
let callId: string | undefined;
/** User and agent are in the room; a user who hangs up before has changed their mind. */
let joined = false;
let changedMind = false;
let ticking: ReturnType<typeof setInterval> | undefined;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function show(): void {
  showPhase(phase, { muted, agentState });
}

function step(event: PageEvent): void {
  phase = nextPhase(phase, event);
  show();
}

function fail(error: unknown): void {
  showProblem(error instanceof Error ? error.message : String(error));
  if (error instanceof RestRefusalError && error.status === 401) {
    rest = undefined;
    elements.key.value = '';
    step('key_refused');
    elements.key.focus();
  } else {
    step('failed');
  }
}

async function useKey(key: string, wanted?: string): Promise<void> {
  showProblem(undefined);
  const client = restWith(key);
  agents = await client.agents();
  rest = client;
  elements.key.value = '';
  showAgents(agents, wanted);
  if (agents.length === 0) showProblem('The organisation of this key has no agents.');
  chooseAgent();
  step('key');
  elements.agent.focus();
}

function chooseAgent(): void {
  const chosen = agents.find(({ ai_agent_id: id }) => id === elements.agent.value);
  askForData(chosen?.required_dynamic_data ?? []);
}

async function call(): Promise<void> {
  if (rest === undefined || phase !== 'choosing') return;
  showProblem(undefined);
  forgetCall();
  muted = false;
  agentState = undefined;
  callId = undefined;
  joined = false;
  changedMind = false;
  step('call');
  const begun = new PageConversation({
    onAgent: () => step('agent'),
    onAgentState: (state) => {
      agentState = state;
      show();
    },
    onLine: showLine,
    onVoice: (voice) => elements.voices.append(voice),
    onSilenced: (silenced) => (elements.unlock.hidden = !silenced),
    onOver: () => void (joined && over()),
  });
  conversation = begun;
  try {
    await begun.openMicrophone().catch((error: unknown) => {
      throw error instanceof DOMException ? new Error(microphoneText(error.name), { cause: error }) : error;
    });
    const made = await rest.createCall(elements.agent.value, dataGiven());
    if (made.media_url === undefined || made.access_token === undefined) throw new Error('The server gave no address to call at.');
    callId = made._id;
    await begun.join(made.media_url, made.access_token, userIdentityOf(made._id)).catch((error: unknown) => {
      throw new Error(`Could not join the call at ${made.media_url}: ${String(error)}`, { cause: error });
    });
    joined = true;
    step('joined');
    if (begun.hasAgent) step('agent');
    if (!begun.connected) void over();
    const startedAt = Date.now();
    ticking = setInterval(() => (elements.clock.textContent = clockText(Date.now() - startedAt)), 1_000);
  } catch (error) {
    await begun.hangUp().catch(() => undefined);
    if (changedMind) step('failed');
    else fail(error);
  }
}

/** Once for each call, whether user or agent ended it. */
async function over(): Promise<void> {
  clearInterval(ticking);
  step('left');
  if (phase !== 'ending' || rest === undefined || callId === undefined) return;
  const [client, id] = [rest, callId];
  await conversation?.hangUp().catch(() => undefined);
  try {
    const ended = await endOf(client, id);
    step('settled');
    showSummary(ended);
    await hear(client, id);
  } catch (error) {
    step('settled');
    fail(error);
  }
}

async function endOf(client: Rest, id: string): Promise<PageCall> {
  for (const startedAt = Date.now(); ;) {
    const found = await client.call(id);
    const isOver = found.call_status === 'ended' || found.call_status === 'error';
    if (isOver || Date.now() - startedAt > endWithinMs) return found;
    await pause(askEveryMs);
  }
}

async function hear(client: Rest, id: string): Promise<void> {
  elements.recordingNote.textContent = 'Waiting for the recording…';
  for (const startedAt = Date.now(); Date.now() - startedAt < recordingWithinMs && callId === id;) {
    try {
      showRecording(id, await client.recording(id));
      return;
    } catch (error) {
      if (!(error instanceof RestRefusalError)) throw error;
      // Not ready, or not in the storage yet.
      if (error.status !== 404 && error.status !== 409) throw error;
    }
    await pause(askEveryMs);
  }
  if (callId === id) elements.recordingNote.textContent = 'There is no recording of this call.';
}

function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function takeFragment(): void {
  const { key, agent } = readFragment(location.hash);
  if (key === undefined) return;
  // Out of the address bar and out of the history.
  history.replaceState(null, '', location.pathname);
  void useKey(key, agent).catch(fail);
}

elements.keyForm.addEventListener('submit', (event) => {
  event.preventDefault();
  void useKey(elements.key.value.trim(), readFragment(location.hash).agent).catch(fail);
});
elements.setupForm.addEventListener('submit', (event) => {
  event.preventDefault();
  void call();
});
elements.agent.addEventListener('change', chooseAgent);
elements.mute.addEventListener('click', () => {
  muted = !muted;
  show();
  void conversation?.mute(muted).catch(fail);
});
elements.hangUp.addEventListener('click', () => {
  changedMind = true;
  void conversation?.hangUp();
});
elements.unlock.addEventListener('click', () => void conversation?.turnSoundOn());
elements.again.addEventListener('click', () => {
  forgetCall();
  callId = undefined;
  step('again');
  elements.start.focus();
});
addEventListener('hashchange', takeFragment);

elements.insecure.hidden = isSecureContext;
show();
takeFragment();
