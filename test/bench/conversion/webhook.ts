/** Serves conversions to the API server (`ConversionReview` v1), as a role would. */
import { fastify } from 'fastify';

import { errorMessageOf } from '../../../platform/caught.ts';
import { selfSigned } from '../../../local-stack/components/self-signed.ts';
import type { ConvertedObject } from './changes.ts';

interface ConversionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly ConvertedObject[] };
}

export interface ConversionWebhook {
  /** Value of `spec.conversion` of a definition that uses it. */
  readonly conversion: object;
  /** Number of requests, of objects in them, and the time that they took, since the last reading. */
  read(): { readonly requests: number; readonly objects: number; readonly ms: number };
  close(): Promise<void>;
}

/** A list of 500 objects of the largest kind is one request. */
const LARGEST_BODY = 256 * 1024 * 1024;

export async function startWebhook(convert: (object: ConvertedObject, apiVersion: string) => ConvertedObject): Promise<ConversionWebhook> {
  const { cert, key } = selfSigned({ names: ['localhost'], addresses: ['127.0.0.1'] });
  const server = fastify({ https: { cert, key }, bodyLimit: LARGEST_BODY });
  let seen = { requests: 0, objects: 0, ms: 0 };
  server.post<{ Body: ConversionReview }>('/convert', async ({ body: { apiVersion, kind, request } }) => {
    const begin = performance.now();
    const { uid, desiredAPIVersion, objects } = request;
    try {
      const convertedObjects = objects.map((object) => convert(object, desiredAPIVersion));
      return { apiVersion, kind, response: { uid, result: { status: 'Success' }, convertedObjects } };
    } catch (error) {
      return { apiVersion, kind, response: { uid, result: { status: 'Failure', message: errorMessageOf(error) } } };
    } finally {
      seen = { requests: seen.requests + 1, objects: seen.objects + objects.length, ms: seen.ms + performance.now() - begin };
    }
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { url: `${address}/convert`, caBundle: Buffer.from(cert).toString('base64') },
      },
    },
    read() {
      const read = seen;
      seen = { requests: 0, objects: 0, ms: 0 };
      return read;
    },
    close: () => server.close(),
  };
}
