import { useRef } from 'react';
import { Button } from '../../../components/button.tsx';
import { Icon } from '../../../components/icon.tsx';
import { useStrings } from '../../../i18n/strings-context.tsx';

export function AttachButton({
  isDisabled,
  onFiles,
}: {
  isDisabled: boolean;
  onFiles: (files: File[]) => void;
}) {
  const strings = useStrings();
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={field}
        type="file"
        multiple
        hidden
        data-attach
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          // The same file can be chosen again.
          event.target.value = '';
        }}
      />
      <Button
        look="quiet"
        className="size-9 px-0"
        aria-label={strings.attachments.add}
        title={strings.attachments.add}
        disabled={isDisabled}
        onClick={() => field.current?.click()}
      >
        <Icon name="clip" />
      </Button>
    </>
  );
}
