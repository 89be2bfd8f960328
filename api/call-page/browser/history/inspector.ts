/** Shows one call: its record, which may still grow, its recording, and the events that were sent about it. */
import { errorMessageOf } from '../../../../platform/caught.ts';
import { isComplete, isOver, startOf, type ShownCall, type Delivery } from '../../session/record.ts';
import { outcomeOf } from '../../session/outcome.ts';
import { clockText, deliveryText } from '../../session/texts.ts';
import { liveTimeline, recordedTimeline } from '../../session/timeline.ts';
import { make } from '../shared/dom.ts';
import { openPlayer, showRecordingNote, type Player } from '../shared/player.ts';
import { commonFacts, outcomeTag, showAnalysis, showFacts, showMedian, type Fact } from '../shared/record-view.ts';
import type { Rest } from '../shared/rest.ts';
import { showTimeline } from '../shared/timeline-view.ts';
import { awaitRecording, readUntil } from '../shared/wait.ts';
import { openLive, type LivePart } from './live.ts';
import { elements, whenText } from './view.ts';

const READ_EVERY_MS = 1_000;
/** Longest wait for the end of a call and its analysis. */
const COMPLETE_WITHIN_MS = 4 * 3_600_000;
/** Longest wait for the recording, which is stored seconds after the end. */
const RECORDING_WITHIN_MS = 15_000;

export interface Inspector {
  close(): void;
}

/** @param onFailure called when the record can't be read: there is nothing to show then */
export function inspect(rest: Rest, id: string, onFailure: (error: unknown) => void): Inspector {
  const closed = new AbortController();
  const { signal } = closed;
  let player: Player | undefined;
  let live: LivePart | undefined;
  clear();

  /** The last reading of the record. */
  let known: ShownCall | undefined;
  const closeLive = (): void => {
    live?.close();
    live = undefined;
  };
  const showTimelineOf = (record: ShownCall): void =>
    showTimeline(elements.timeline, live === undefined ? recordedTimeline(record) : liveTimeline(record, live.lines, live), {
      user: 'User',
      ...(player !== undefined && { seek: (second: number) => player?.seek(second) }),
    });
  const onRecord = (record: ShownCall): void => {
    known = record;
    if (record.call_status === 'ongoing') live ??= openLive(rest, record, () => known !== undefined && showTimelineOf(known));
    else closeLive();
    showRecord(record);
    showTimelineOf(record);
    showMedian(elements.median, record);
    showAnalysis(elements.analysis, record.post_call_analysis);
  };
  const showRecording = async (call: ShownCall, withinMs: number): Promise<void> => {
    showRecordingNote('Reading the recording…');
    const recording = await awaitRecording(rest, id, { everyMs: READ_EVERY_MS, withinMs, signal });
    if (signal.aborted) return;
    showRecordingNote(recording === undefined ? 'There is no recording of this call.' : '');
    if (recording === undefined) return;
    player = openPlayer(id, recording);
    showTimelineOf(call);
  };
  const showDeliveries = async (call: ShownCall): Promise<void> => {
    const found = await rest.deliveries(call, signal);
    if (signal.aborted) return;
    elements.deliveriesNote.textContent = found.length === 0 ? 'Nothing was sent about this call.' : '';
    elements.deliveries.replaceChildren(
      ...found.flatMap(({ receiver, deliveries }) => deliveries.map((delivery) => deliveryItem(receiver, delivery))),
    );
  };
  const noteWith =
    (show: (text: string) => void) =>
    (error: unknown): void => {
      if (!signal.aborted) show(errorMessageOf(error));
    };
  const polling = { everyMs: READ_EVERY_MS, withinMs: COMPLETE_WITHIN_MS, signal, onRecord };
  const follow = async (): Promise<void> => {
    const ended = await readUntil(rest, id, { ...polling, done: isOver });
    if (signal.aborted) return;
    const endedAt = startOf(ended) + 1_000 * (ended.call_duration_seconds ?? 0);
    await Promise.all([
      showRecording(ended, Date.now() - endedAt > RECORDING_WITHIN_MS ? 0 : RECORDING_WITHIN_MS).catch(noteWith(showRecordingNote)),
      showDeliveries(ended).catch(noteWith((text) => (elements.deliveriesNote.textContent = text))),
      readUntil(rest, id, { ...polling, record: ended, done: isComplete }),
    ]);
  };
  void follow().catch((error: unknown) => {
    if (!signal.aborted) onFailure(error);
  });
  return {
    close() {
      closed.abort();
      closeLive();
      player?.close();
    },
  };
}

function clear(): void {
  for (const part of [elements.timeline, elements.line, elements.facts, elements.deliveries, elements.deliveriesNote])
    part.replaceChildren();
  for (const part of [elements.median, elements.analysis, elements.livePart]) part.hidden = true;
  showRecordingNote('');
  elements.title.textContent = 'Call';
}

function showRecord(call: ShownCall): void {
  const { call_duration_seconds: seconds } = call;
  elements.title.textContent = call.ai_agent_name;
  const figures = [whenText(call), ...(seconds === undefined ? [] : [clockText(seconds)])];
  elements.line.replaceChildren(outcomeTag(outcomeOf(call)), ...figures.map((text) => make('span', {}, text)));
  showFacts(elements.facts, [...wayFacts(call), { name: 'Agent', text: call.ai_agent_id }, ...commonFacts(call)]);
}

function wayFacts({ direction, from_number: from = 'unknown', to_number: to = 'unknown' }: ShownCall): readonly Fact[] {
  if (direction === undefined) return [{ name: 'Kind', text: 'Web call' }];
  return [
    { name: 'Kind', text: direction === 'inbound' ? 'Inbound phone call' : 'Outbound phone call' },
    { name: 'From', text: from },
    { name: 'To', text: to },
  ];
}

function deliveryItem(receiver: string, delivery: Delivery): HTMLElement {
  const { event_name: event, status, reason } = delivery;
  return make(
    'li',
    {},
    make('code', {}, event),
    make('span', { class: status === 'failed' ? 'tag failed' : 'tag' }, status),
    make('span', { class: 'quiet', title: reason ?? '' }, `${receiver}, ${deliveryText(delivery)}`),
  );
}
