import { ATTACHMENT_MAX_BYTES, type ArtifactRef } from '@vitto/contracts';
import type { ReactNode } from 'react';
import { explainError } from '../../../components/failure-note.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';
import type { Strings } from '../../../i18n/strings.en.ts';
import { formatBytes } from '../model/format.ts';
import { MAX_FILES, type Upload, type Uploads } from './use-uploads.ts';

interface AttachmentBarProps {
  files: readonly ArtifactRef[];
  onRemove: (id: string) => void;
  uploads: Uploads;
}

/** The files of the message that is written: those that are there, those on their way, and what went wrong. */
export function AttachmentBar({ files, onRemove, uploads }: AttachmentBarProps) {
  const strings = useStrings();
  if (files.length === 0 && uploads.uploads.length === 0 && !uploads.isOverfull) return null;
  return (
    <div className="grid gap-1.5">
      <ul aria-label={strings.attachments.list} className="flex max-h-40 flex-wrap gap-1.5 overflow-y-auto">
        {files.map((file) => (
          <Chip
            key={file.id}
            name={file.name}
            detail={formatBytes(file.bytes)}
            stopLabel={strings.attachments.remove(file.name.toWellFormed())}
            onStop={() => onRemove(file.id)}
          />
        ))}
        {uploads.uploads.map((upload) => (
          <UploadChip key={upload.key} upload={upload} uploads={uploads} />
        ))}
      </ul>
      {uploads.isOverfull && (
        <p role="alert" className="text-red">
          {strings.attachments.tooMany(MAX_FILES)}
        </p>
      )}
    </div>
  );
}

function UploadChip({ upload, uploads }: { upload: Upload; uploads: Uploads }) {
  const strings = useStrings();
  const words = strings.attachments;
  const name = upload.file.name.toWellFormed();
  const percent = Math.floor(upload.progress * 100);
  const mayRetry = upload.fault !== null && typeof upload.fault !== 'string';
  return (
    <Chip
      name={name}
      isFaulty={upload.fault !== null}
      detail={upload.fault === null ? `${percent} %` : explainFault(upload.fault, strings)}
      stopLabel={upload.fault === null ? words.stop(name) : words.remove(name)}
      onStop={() => uploads.drop(upload.key)}
    >
      {upload.fault === null && (
        <progress
          className="absolute inset-x-1 bottom-0 h-0.5 w-[calc(100%-0.5rem)]"
          max={100}
          value={percent}
          aria-label={words.progress(name, percent)}
        />
      )}
      {mayRetry && (
        <button
          type="button"
          aria-label={`${strings.app.retry}: ${name}`}
          className="px-1 text-accent underline underline-offset-2"
          onClick={() => uploads.again(upload)}
        >
          {strings.app.retry}
        </button>
      )}
    </Chip>
  );
}

function explainFault(fault: NonNullable<Upload['fault']>, strings: Strings): string {
  if (fault === 'too-large') return strings.attachments.tooLarge(formatBytes(ATTACHMENT_MAX_BYTES));
  if (fault === 'empty') return strings.attachments.isEmpty;
  return `${strings.attachments.failed}: ${explainError(fault, strings).message}`;
}

function Chip(props: {
  name: string;
  detail: string;
  isFaulty?: boolean;
  stopLabel: string;
  onStop: () => void;
  children?: ReactNode;
}) {
  const { name, detail, isFaulty = false, stopLabel, onStop, children } = props;
  return (
    <li
      title={name.toWellFormed()}
      className={`relative inline-flex min-h-8 max-w-full min-w-0 items-center gap-1.5 rounded-md border ps-2 ${isFaulty ? 'border-red-line bg-red-soft' : 'border-line bg-surface'}`}
    >
      <Icon name="clip" className={isFaulty ? 'text-red' : 'text-accent'} />
      <span className="max-w-52 truncate" dir="auto">
        {name.toWellFormed()}
      </span>
      <span
        role={isFaulty ? 'alert' : undefined}
        className={`tabular min-w-0 ${isFaulty ? 'text-red [overflow-wrap:anywhere]' : 'shrink-0 text-muted'}`}
      >
        {detail}
      </span>
      {children}
      <button
        type="button"
        aria-label={stopLabel}
        className="grid size-7 shrink-0 place-content-center rounded-md text-muted hover:text-red"
        onClick={onStop}
      >
        <Icon name="close" className="size-3.5" />
      </button>
    </li>
  );
}
