/** The LiveKit server of the configuration. */
import { ConfigError, type Config } from '../platform/config/config.ts';

export interface MediaServer {
  /** Address for Parley itself: `ws:` or `wss:`. */
  readonly url: string;
  /** Address for browsers. */
  readonly publicUrl: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** The name by which this installation's voice roles get jobs. */
  readonly agentName: string;
  /** How long a web call waits for its user, in seconds. */
  readonly joinSeconds: number;
}

type Settings = Pick<
  Config,
  'LIVEKIT_URL' | 'LIVEKIT_PUBLIC_URL' | 'LIVEKIT_API_KEY' | 'LIVEKIT_API_SECRET' | 'LIVEKIT_AGENT_NAME' | 'PARLEY_CALL_JOIN_SECONDS'
>;

/**
 * @returns undefined where no media server is configured
 * @throws ConfigError for one without its key
 */
export function mediaServerOf(config: Settings): MediaServer | undefined {
  const { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret } = config;
  if (url === undefined) return undefined;
  if (apiKey === undefined || apiSecret === undefined)
    throw new ConfigError('LIVEKIT_URL names a media server: set LIVEKIT_API_KEY and LIVEKIT_API_SECRET as it has them, too');
  return {
    url: asWebSocket(url),
    publicUrl: asWebSocket(config.LIVEKIT_PUBLIC_URL ?? url),
    apiKey,
    apiSecret,
    agentName: config.LIVEKIT_AGENT_NAME,
    joinSeconds: config.PARLEY_CALL_JOIN_SECONDS,
  };
}

function asWebSocket(url: string): string {
  return url.replace(/^http/, 'ws').replace(/\/+$/, '');
}

/** Returns the HTTP address for requests to the media server. */
export function httpUrlOf({ url }: Pick<MediaServer, 'url'>): string {
  return url.replace(/^ws/, 'http');
}
