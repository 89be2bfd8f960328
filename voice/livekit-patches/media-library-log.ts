/**
 * Keeps the log of the media library out of JavaScript. rtc-node asks for all of it, down to each step of WebRTC and each frame of a socket, and
 * drops it: some 1,800 lines a call, each encoded, decoded and handed to every listener.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { AudioResampler } from '@livekit/rtc-node';

/** The part of `@livekit/rtc-ffi-bindings` that is used, of the copy that rtc-node uses. */
interface Bindings {
  readonly FfiEvent: { fromBinary(data: Uint8Array): unknown };
  livekitInitialize(onEvent: (data: Uint8Array) => void, logs: boolean, version: string): void;
}

/** rtc-node keeps its connection to the media library here, from its first use on. */
const shared = globalThis as { readonly _ffiClientInstance?: NodeJS.EventEmitter };

export function keepMediaLibraryQuiet(): void {
  new AudioResampler(48_000, 16_000).close();
  const client = shared._ffiClientInstance!;
  const rtcNode = createRequire(import.meta.url).resolve('@livekit/rtc-node');
  const require = createRequire(rtcNode);
  const { version } = require(join(rtcNode, '../../package.json')) as { readonly version: string };
  const library = require('@livekit/rtc-ffi-bindings') as Bindings;
  library.livekitInitialize((data) => client.emit('ffi_event', library.FfiEvent.fromBinary(data)), false, version);
}
