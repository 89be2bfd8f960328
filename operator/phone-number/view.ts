/** What is known of a number at the media server and in Postgres. */
import type { SipThing } from '../../voice/calls/sip/trunks.ts';
import type { PhoneRoute } from '../../store/index.ts';
import type { Unavailable } from '../runtime/postgres-outage.ts';

export type SipView =
  | {
      readonly state: 'known';
      /** Its own, by its uid; oldest name first, so that everybody keeps the same one of two. */
      readonly own: readonly SipThing[];
      /** Of the same number, for objects that may be gone. */
      readonly others: readonly SipThing[];
      /** What the media server would not make, and why: asking again changes nothing. */
      readonly refused?: { readonly attempt: string; readonly message: string };
    }
  /** It keeps no trunks at all. */
  | { readonly state: 'without_redis' }
  /** What is there can't be known now; `login` needs a person. */
  | { readonly state: 'unavailable'; readonly why: string; readonly login: boolean };

export type RouteView =
  | {
      readonly state: 'known';
      /** As this process wrote it; absent where it has not. */
      readonly written?: PhoneRoute;
    }
  | Unavailable;
