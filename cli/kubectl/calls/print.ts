import { shortRevision } from '../../../crds/agent-revision.ts';
import { LATENCY_NAMES, latencyText, medianLatencies, type TurnLatencies } from '../../../calls/turn-latencies.ts';
import { table } from '../../table.ts';
import { ageOf, span } from '../../age.ts';
import type { Style } from '../style.ts';
import { costText } from './cost.ts';
import type { CallDetails, ListedCall } from './read.ts';

export interface PrintCallsOptions {
  readonly wide: boolean;
  readonly now: number;
}

const header = ['ID', 'AGENT', 'STATE', 'STARTED', 'DURATION', 'REASON'];
const wideHeader = [...header, 'REVISION', 'TYPE', 'FROM', 'TO', 'CREATED'];

export function callsTable(calls: readonly ListedCall[], options: PrintCallsOptions): string {
  return table(
    options.wide ? wideHeader : header,
    calls.map((call) => row(call, options)),
    options,
  );
}

function row(call: ListedCall, { wide, now }: PrintCallsOptions): readonly string[] {
  return [
    call._id,
    call.override_ai_agent_id ?? call.ai_agent_id,
    call.call_status,
    call.call_start_time === undefined ? '-' : `${ageOf(call.call_start_time, now)} ago`,
    duration(call, now),
    call.call_finish_reason ?? '',
    ...(wide
      ? [shortRevision(call.agent_revision ?? ''), typeOf(call), call.from_number ?? '', call.to_number ?? '', call.created_at]
      : []),
  ];
}

/** Returns the duration so far for a live call. */
function duration(call: ListedCall, now: number): string {
  if (call.call_duration_seconds !== undefined) return span(call.call_duration_seconds * 1000);
  return call.call_start_time === undefined ? '-' : span(now - Date.parse(call.call_start_time));
}

function typeOf({ call_type: type, direction }: ListedCall): string {
  return direction === undefined ? type : `${type}, ${direction}`;
}

export function printCall(call: CallDetails, { style, now }: { readonly style: Style; readonly now: number }): string {
  const spoken = call.override_ai_agent_id;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Call', call._id],
    ['Agent', spoken === undefined ? call.ai_agent_id : `${spoken}, in the stead of ${call.ai_agent_id}`],
    ['Revision', shortRevision(call.agent_revision ?? '')],
    ['State', `${call.call_status}${call.call_finish_reason === undefined ? '' : ` (${call.call_finish_reason})`}`],
    ['Type', typeOf(call)],
    ['From', call.from_number],
    ['To', call.to_number],
    ['Created', call.created_at],
    ['Started', call.call_start_time],
    ['Ended', call.call_end_time],
    ['Duration', call.call_start_time === undefined ? undefined : duration(call, now)],
    ['Recording', call.recorded_call_audio_url === undefined ? undefined : 'there is one'],
    ['Latencies', latencies(call.turns)],
    ['Analysis', call.post_call_analysis?.status],
    ['Cost', call.cost && costText(call.cost)],
  ];
  const lines = facts.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [`${`${name}:`.padEnd(11)}${value}\n`]));
  const said = call.messages.map(
    ({ role, content, timestamp }) => `  ${offset(call, timestamp)}  ${style.bold(role.padEnd(5))}  ${content}\n`,
  );
  return `${lines.join('')}\n${said.length === 0 ? 'Nothing has been said.\n' : `Transcript:\n${said.join('')}`}`;
}

function latencies(turns: readonly TurnLatencies[]): string | undefined {
  if (turns.length === 0) return undefined;
  const medians = medianLatencies(turns);
  const each = (Object.keys(LATENCY_NAMES) as (keyof TurnLatencies)[]).map(
    (name) => `${LATENCY_NAMES[name]} ${latencyText(medians[name])}`,
  );
  return `${each.join(', ')} (medians of ${turns.length})`;
}

/** Formats minutes and seconds since the call began. */
function offset(call: CallDetails, timestamp: string): string {
  const ms = Date.parse(timestamp) - Date.parse(call.call_start_time ?? call.created_at);
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
}
