declare module 'pdfjs-dist/legacy/build/pdf.worker.mjs' {
  /** What pdf.js runs in a worker, or, found at `globalThis.pdfjsWorker`, in its own thread. */
  export const WorkerMessageHandler: unknown;
}
