/** The state of a number at the media server and in Postgres. */
import type { SipThing } from '../../calls/sip/trunks.ts';
import type { PhoneRoute } from '../../store/index.ts';
import type { Unavailable } from '../runtime/postgres-outage.ts';

export type SipView =
  | {
      readonly state: 'known';
      /** The trunks and rules of the object, by its uid; in a fixed order, so that of two the same one is always kept. */
      readonly own: readonly SipThing[];
      /** Trunks and rules of the same number, for objects that may be gone. */
      readonly others: readonly SipThing[];
      /** The attempt that the media server refused, and why: another one would fail the same way. */
      readonly refused?: { readonly attempt: string; readonly message: string };
    }
  /** It runs without Redis and keeps no trunks. */
  | { readonly state: 'without_redis' }
  /** It cannot be read now; `login` needs a person. */
  | { readonly state: 'unavailable'; readonly why: string; readonly login: boolean };

export type RouteView =
  | {
      readonly state: 'known';
      /** The route as this process wrote it; absent where it has not. */
      readonly written?: PhoneRoute;
    }
  | Unavailable;
