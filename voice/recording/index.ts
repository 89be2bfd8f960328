/** What was said in calls, as sound. */
export { keepRecordings } from './keeper.ts';
export { createRecordings, type OpenRecording, type Recordings, type RecordingsOptions, type Saved } from './recordings.ts';
export { spoolFolderOf } from './spool.ts';
