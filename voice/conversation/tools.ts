/** Carries out what tools do to the conversation. */
import type { HistoryItem } from '../providers/llm/history.ts';
import type { Change } from './change.ts';
import type { ConversationEvent } from './events.ts';
import { announce } from './speech.ts';

export function announced(change: Change, text: string, answers: boolean): void {
  if (answers) change.set({ answeredByTool: true });
  announce(change, text, { by: 'tool' });
}

/** Takes a tool's result, which stands right after its call, whatever was said meanwhile. */
export function ran(change: Change, { callId, output, record }: Extract<ConversationEvent, { readonly type: 'ran' }>): void {
  const { tools, history, unseen } = change.state;
  const tool = tools.find((each) => each.callId === callId);
  if (tool === undefined) return;
  change.emit({ type: 'record', entries: [{ toolCall: { seq: tool.number, ...record } }] });
  change.set({ tools: tools.filter((each) => each !== tool) });
  if (output === undefined) return;
  const at = history.findIndex((item) => item.id === String(tool.number));
  const item: HistoryItem = { type: 'result', id: `${tool.number}/result`, callId, name: record.name, output, isError: record.failed };
  change.set({ history: history.toSpliced(at + 1, 0, item), unseen: unseen + 1 });
}
