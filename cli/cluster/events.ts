/** Reads events of Kubernetes in the one form in which commands show them. */
import type { KubeObject } from '../../kube/index.ts';
import { builtIn } from './descriptors.ts';
import type { ListFilter, Reader } from './reader.ts';

interface Event extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly eventTime?: string | null;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  readonly deprecatedLastTimestamp?: string | null;
  readonly deprecatedCount?: number;
  readonly regarding?: { readonly kind?: string; readonly name?: string; readonly namespace?: string };
}

export interface EventReport {
  readonly time: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

export interface ListedEvent {
  readonly namespace: string;
  /** `Agent reception` */
  readonly object: string;
  readonly report: EventReport;
}

/** Returns the oldest first; `undefined` where they may not be listed. */
export async function readEvents(
  reader: Reader,
  filter: Pick<ListFilter, 'namespace' | 'fieldSelector'>,
): Promise<readonly ListedEvent[] | undefined> {
  const events = await reader.list<Event>(builtIn.events, filter);
  return events
    ?.map((event) => {
      const { kind = '', name = '' } = event.regarding ?? {};
      return { namespace: event.metadata.namespace ?? '', object: `${kind} ${name}`, report: reportEvent(event) };
    })
    .sort((a, b) => Date.parse(a.report.time) - Date.parse(b.report.time));
}

function reportEvent({ type, reason, note, eventTime, series, deprecatedLastTimestamp, deprecatedCount, metadata }: Event): EventReport {
  return {
    time: series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '',
    type: type ?? 'Normal',
    reason: reason ?? '',
    message: note ?? '',
    count: series?.count ?? deprecatedCount ?? 1,
  };
}
