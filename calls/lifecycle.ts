/** Commits the state changes of calls, each with its event in one transaction; calls of tests have no events. */
import type { Clock } from '../platform/clock.ts';
import { currentTrace } from '../platform/telemetry/tracing.ts';
import {
  isTerminal,
  type CallRecord,
  type CallStore,
  type FinishReason,
  type NewCall,
  type NewEvent,
  type UsageLine,
} from '../store/index.ts';
import { usageShown } from '../events/call-usage.ts';
import { buildEvent } from '../events/emit.ts';
import type { EventName, EventPayload } from '../events/catalogue.ts';

type Calls = CallStore['calls'];
type Transition = Awaited<ReturnType<Calls['end']>>;

/** The agent that talks: the one that was asked for, or its replacement. */
export function talkingAgentOf({ agentName, overrideAgentName }: Pick<CallRecord, 'agentName' | 'overrideAgentName'>): string {
  return overrideAgentName ?? agentName;
}

/** Milliseconds from the first media to the end; 0 for a call that never started, undefined for one that isn't over. */
export function durationOf({ startedAt, endedAt }: Pick<CallRecord, 'startedAt' | 'endedAt'>): number | undefined {
  if (endedAt === null) return undefined;
  return startedAt === null ? 0 : endedAt.getTime() - startedAt.getTime();
}

export class CallLifecycle {
  readonly #calls: Calls;
  readonly #clock: Clock;

  constructor({ calls, clock }: { readonly calls: Calls; readonly clock: Clock }) {
    this.#calls = calls;
    this.#clock = clock;
  }

  /** @throws StoreError `not_found` for an unknown organisation */
  register(call: NewCall): ReturnType<Calls['register']> {
    return this.#calls.register({ ...inTrace(), ...call });
  }

  refuse(call: NewCall, reason: FinishReason): Promise<CallRecord> {
    return this.#calls.refuse({ ...inTrace(), ...call }, { reason, events: unlessTest((record) => [this.#ended(record, [])]) });
  }

  /** Records the first media of a call. @throws StoreError `not_found` */
  start(call: Omit<Parameters<CallStore['calls']['start']>[0], 'events'>): Promise<Transition> {
    return this.#calls.start({ ...call, events: unlessTest((record) => [this.#started(record)]) });
  }

  /**
   * Records the end of a call; the first reason counts. The trigger `calls_are_analysed` (store/migrations/0001_schema.sql) requests the analysis.
   * @param call - `transferredTo`: the target of a transfer
   * @throws StoreError `not_found`
   */
  end({
    transferredTo,
    ...call
  }: Omit<Parameters<Calls['end']>[0], 'events'> & { readonly transferredTo?: string | undefined }): Promise<Transition> {
    return this.#calls.end({
      ...call,
      events: unlessTest((record, usage) => [
        ...(transferredTo === undefined ? [] : [this.#transferred(record, transferredTo)]),
        this.#ended(record, usage),
        ...this.#recorded(record),
      ]),
    });
  }

  /** Returns the event of a hand-over, to be stored with its record. */
  handedOver(record: CallRecord, { from, to }: { readonly from: string; readonly to: string }): readonly NewEvent[] {
    const payload = { ...about(record), status: 'ongoing', from_agent_id: from, to_agent_id: to } as const;
    return unlessTest(() => [this.#event(record, 'CallHandler.CallHandedOver', payload)])(record, []);
  }

  /** Records that the recording is in the storage: it can be downloaded once the call is over. @returns false when the call had one */
  addRecording(recording: Omit<Parameters<Calls['addRecording']>[0], 'events'>): Promise<boolean> {
    return this.#calls.addRecording({
      ...recording,
      events: unlessTest((record) => (isTerminal(record.status) ? this.#recorded(record) : [])),
    });
  }

  #started(record: CallRecord): NewEvent {
    const { status, callType, direction, startedAt } = record;
    const payload = { ...about(record), status, call_type: callType, ...(direction !== null && { direction }) };
    return this.#event(record, 'CallHandler.CallStarted', payload, startedAt);
  }

  #transferred(record: CallRecord, to: string): NewEvent {
    const { status, endedAt } = record;
    const payload = { ...about(record), status, transfer_to: to, reason: 'call_transferred' };
    return this.#event(record, 'CallHandler.CallTransferred', payload, endedAt);
  }

  #ended(record: CallRecord, usage: readonly UsageLine[]): NewEvent {
    const { status, callType, finishReason, endedAt } = record;
    const payload = {
      ...about(record),
      status,
      reason: finishReason ?? 'unknown_error',
      call_type: callType,
      duration_seconds: (durationOf(record) ?? 0) / 1000,
      ...(usage.length > 0 && { usage: usageShown(usage) }),
    };
    return this.#event(record, 'CallHandler.CallEnded', payload, endedAt);
  }

  #recorded(record: CallRecord): readonly NewEvent[] {
    const { recording } = record;
    if (recording === null) return [];
    return [this.#event(record, 'CallHandler.RecordingReady', { ...about(record), duration_seconds: recording.durationMs / 1000 })];
  }

  /** @param at when the record says that it happened; now where it says nothing */
  #event<N extends EventName>(record: CallRecord, name: N, payload: EventPayload<N>, at: Date | null = null): NewEvent {
    return buildEvent({
      name,
      payload,
      at: at?.getTime(),
      org: record.org,
      agent: talkingAgentOf(record),
      workspace: record.workspace ?? undefined,
      traceparent: record.traceparent,
      now: this.#clock.now(),
    });
  }
}

type EventsOf = (record: CallRecord, usage: readonly UsageLine[]) => readonly NewEvent[];

function unlessTest(events: EventsOf): EventsOf {
  return (record, usage) => (record.test === null ? events(record, usage) : []);
}

/** All that the call does later belongs to the trace in which it is registered. */
function inTrace(): Pick<NewCall, 'traceparent'> {
  return { traceparent: currentTrace()?.traceparent };
}

function about(record: CallRecord): { readonly call_id: string; readonly agent_id: string } {
  return { call_id: record.id, agent_id: talkingAgentOf(record) };
}
