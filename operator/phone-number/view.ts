/** What the media server and Postgres have of a number. */
import type { SipThing } from '../../calls/sip/trunks.ts';
import type { PhoneRoute } from '../../store/index.ts';
import type { Unavailable } from '../runtime/postgres-outage.ts';

export type SipView =
  | {
      readonly state: 'known';
      /** Its own, by its uid; in a fixed order, so that of two the same one is always kept. */
      readonly own: readonly SipThing[];
      /** Of the same number, for objects that may be gone. */
      readonly others: readonly SipThing[];
      /** What the media server refused, and why: another attempt would fail the same way. */
      readonly refused?: { readonly attempt: string; readonly message: string };
    }
  /** It runs without Redis and keeps no trunks. */
  | { readonly state: 'without_redis' }
  /** It cannot be read now; `login` needs a person. */
  | { readonly state: 'unavailable'; readonly why: string; readonly login: boolean };

export type RouteView =
  | {
      readonly state: 'known';
      /** As this process wrote it; absent where it has not. */
      readonly written?: PhoneRoute;
    }
  | Unavailable;
