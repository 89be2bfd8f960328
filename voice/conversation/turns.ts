/** The turns of the user. */
import { cancelAnswer } from './answers.ts';
import type { Change } from './change.ts';
import { recordUser } from './records.ts';
import { interruptSpeech } from './speech.ts';
import { isQuiet, type RunningTool } from './state.ts';

/** Whole turns: they interrupt what the agent says, where that is allowed. */
export function userTurn(change: Change, text: string): void {
  const { begun, settings, waiting } = change.state;
  if (!begun || text.trim() === '') return;
  change.set({ waiting: [...waiting, text] });
  if (settings.interruptions || isQuiet({ ...change.state, waiting })) takeWaiting(change);
}

/** @returns whether there was one */
export function takeWaiting(change: Change): boolean {
  const { waiting } = change.state;
  change.set({ waiting: [] });
  for (const text of waiting) take(change, text);
  return waiting.length > 0;
}

function stopTools(change: Change): void {
  const { tools } = change.state;
  const isToStop = ({ stops, stopping }: RunningTool): boolean => stops && !stopping;
  change.set({ tools: tools.map((tool) => (isToStop(tool) ? { ...tool, stopping: true } : tool)) });
  for (const { callId } of tools.filter(isToStop)) change.emit({ type: 'stopTool', callId });
}

function take(change: Change, text: string): void {
  cancelAnswer(change);
  interruptSpeech(change);
  stopTools(change);
  const number = change.number();
  const content = text.trim();
  recordUser(change, number, content);
  const { history, ending } = change.state;
  change.set({
    history: [...history, { type: 'message', id: String(number), role: 'user', text: content }],
    caller: undefined,
    steps: 0,
    answeredByTool: false,
    unanswered: !ending,
  });
}
