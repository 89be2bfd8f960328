/** One call: its record, which may still grow, its recording, and what was sent about it. */
import { isComplete, isOver, startOf, type ShownCall, type Delivery } from '../../session/record.ts';
import { clockText } from '../../session/texts.ts';
import { recordedTimeline } from '../../session/timeline.ts';
import { facts, make } from '../shared/dom.ts';
import { showAnalysis, showMedian } from '../shared/record-view.ts';
import type { Rest } from '../shared/rest.ts';
import { showTimeline } from '../shared/timeline-view.ts';
import { awaitRecording, readUntil } from '../shared/wait.ts';
import { openPlayer, type Player } from './player.ts';
import { elements, statusTag, whenText } from './view.ts';

const READ_EVERY_MS = 1_000;
/** For the end of a call and its analysis. */
const COMPLETE_WITHIN_MS = 4 * 3_600_000;
/** For the recording, which is stored seconds after the end. */
const RECORDING_WITHIN_MS = 15_000;

export interface Inspector {
  close(): void;
}

/** @param onFailure where the record can't be read: there is nothing to show then */
export function inspect(rest: Rest, id: string, onFailure: (error: unknown) => void): Inspector {
  const closed = new AbortController();
  const { signal } = closed;
  let player: Player | undefined;
  clear();

  const onRecord = (record: ShownCall): void => {
    showFacts(record);
    showTimeline(elements.timeline, recordedTimeline(record), { user: 'User', seek: (second) => player?.seek(second) });
    showMedian(elements.median, record);
    showAnalysis(elements.analysis, record.post_call_analysis);
  };
  const showRecording = async (withinMs: number): Promise<void> => {
    elements.recordingNote.textContent = 'Reading the recording…';
    const recording = await awaitRecording(rest, id, { everyMs: READ_EVERY_MS, withinMs, signal });
    if (signal.aborted) return;
    elements.recordingNote.textContent = recording === undefined ? 'There is no recording of this call.' : '';
    if (recording === undefined) return;
    player = openPlayer(id, recording);
  };
  const showDeliveries = async (call: ShownCall): Promise<void> => {
    const found = await rest.deliveries(call, signal);
    if (signal.aborted) return;
    elements.deliveriesNote.textContent = found.length === 0 ? 'Nothing was sent about this call.' : '';
    elements.deliveries.replaceChildren(
      ...found.flatMap(({ receiver, deliveries }) => deliveries.map((delivery) => deliveryItem(receiver, delivery))),
    );
  };
  const noteIn =
    (note: HTMLElement) =>
    (error: unknown): void => {
      if (!signal.aborted) note.textContent = error instanceof Error ? error.message : String(error);
    };
  const polling = { everyMs: READ_EVERY_MS, withinMs: COMPLETE_WITHIN_MS, signal, onRecord };
  const follow = async (): Promise<void> => {
    const ended = await readUntil(rest, id, { ...polling, done: isOver });
    if (signal.aborted) return;
    const endedAt = startOf(ended) + 1_000 * (ended.call_duration_seconds ?? 0);
    await Promise.all([
      showRecording(Date.now() - endedAt > RECORDING_WITHIN_MS ? 0 : RECORDING_WITHIN_MS).catch(noteIn(elements.recordingNote)),
      showDeliveries(ended).catch(noteIn(elements.deliveriesNote)),
      readUntil(rest, id, { ...polling, record: ended, done: isComplete }),
    ]);
  };
  void follow().catch((error: unknown) => {
    if (!signal.aborted) onFailure(error);
  });
  return {
    close() {
      closed.abort();
      player?.close();
    },
  };
}

function clear(): void {
  for (const part of [elements.timeline, elements.facts, elements.deliveries, elements.recordingNote, elements.deliveriesNote])
    part.replaceChildren();
  for (const part of [elements.median, elements.analysis, elements.playerPart]) part.hidden = true;
  elements.title.textContent = 'Call';
}

function showFacts(call: ShownCall): void {
  elements.title.textContent = call.ai_agent_name;
  elements.facts.replaceChildren(
    ...facts([
      ['Started', whenText(call)],
      ['State', statusTag(call.call_finish_reason ?? call.call_status, call.call_status === 'error')],
      ...(call.call_duration_seconds === undefined ? [] : [['Duration', clockText(call.call_duration_seconds)] as const]),
      ...(call.direction === undefined
        ? []
        : [[call.direction, `${call.from_number ?? 'unknown'} → ${call.to_number ?? 'unknown'}`] as const]),
      ['Agent', make('code', {}, call.ai_agent_id)],
      ['Call', make('code', {}, call._id)],
    ]),
  );
}

function deliveryItem(receiver: string, { event_name: event, status, reason, attempts }: Delivery): HTMLElement {
  const why = reason === null || reason === 'ok' ? '' : `, ${reason}`;
  return make(
    'li',
    {},
    make('code', {}, event),
    statusTag(status, status === 'failed'),
    make('span', { class: 'quiet' }, `${receiver}, ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}${why}`),
  );
}
