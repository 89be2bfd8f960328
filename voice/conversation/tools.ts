/** Carries out what tools do to the conversation. */
import type { HistoryItem } from '../providers/llm/history.ts';
import type { Change } from './change.ts';
import type { ConversationEvent } from './events.ts';
import { NOT_HANDED_OVER, takeOver } from './handover.ts';
import { announce } from './speech.ts';
import type { RunningTool } from './state.ts';

export function announced(
  change: Change,
  { text, answers, agent }: Pick<Extract<ConversationEvent, { readonly type: 'announced' }>, 'text' | 'answers' | 'agent'>,
): void {
  if (agent !== change.state.settings.agent) return;
  if (answers) change.set({ answeredByTool: true });
  announce(change, text, { by: 'tool' });
}

type Ran = Extract<ConversationEvent, { readonly type: 'ran' }>;

/** Takes a tool's result, which stands right after its call, whatever was said meanwhile. */
export function ran(change: Change, event: Ran): void {
  const { tools, unseen, settings, handover } = change.state;
  const tool = tools.find((each) => each.callId === event.callId);
  if (tool === undefined) return;
  const isLate = event.handover !== undefined && change.state.ending;
  const { record, output } = isLate ? { ...event, ...refusalOf(event.record) } : event;
  const next = isLate ? undefined : event.handover?.settings.agent;
  const takeover = next === undefined ? {} : { takeover: { from: tool.agent, to: next } };
  change.emit({ type: 'record', entries: [{ toolCall: { seq: tool.number, agent: tool.agent, ...record }, ...takeover }] });
  change.set({ tools: tools.filter((each) => each !== tool) });
  if (output !== undefined) addResult(change, tool, { name: record.name, output, isError: record.failed });
  if (handover.callId === tool.callId) change.set({ handover: { ...handover, callId: undefined } });
  if (event.handover !== undefined && !isLate) return takeOver(change, tool, event.handover);
  // The agent that talks knows nothing of the tools of another.
  if (output !== undefined && tool.agent === settings.agent) change.set({ unseen: unseen + 1 });
}

/** The call ends before the other agent was ready. */
function refusalOf(record: Ran['record']): Pick<Ran, 'record' | 'output'> {
  const output = JSON.stringify({ error: NOT_HANDED_OVER });
  return { output, record: { ...record, result: output, failed: true } };
}

function addResult(change: Change, { number, callId }: RunningTool, result: { name: string; output: string; isError: boolean }): void {
  const { history } = change.state;
  const at = history.findIndex((item) => item.id === String(number));
  const item: HistoryItem = { type: 'result', id: `${number}/result`, callId, ...result };
  change.set({ history: history.toSpliced(at + 1, 0, item) });
}
