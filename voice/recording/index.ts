/** Recordings of calls. */
export { prepareEncoder } from './encoder.ts';
export { uploadRecordings } from './uploader.ts';
export { Recordings, type OpenRecording, type Saved } from './recordings.ts';
export { ensureSpool, spoolFolderOf } from './spool.ts';
