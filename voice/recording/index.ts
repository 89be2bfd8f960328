/** What was said in calls, as sound. */
export { prepareEncoder } from './encoder.ts';
export { uploadRecordings } from './uploader.ts';
export { createRecordings, type OpenRecording, type Recordings, type Saved } from './recordings.ts';
export { ensureSpool, spoolFolderOf } from './spool.ts';
