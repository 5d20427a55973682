import { useStrings } from '../../i18n/strings-context.tsx';

export function ViewSkeleton() {
  const strings = useStrings();
  return (
    <div className="appear-late grid content-start gap-2 p-3" role="status">
      <span className="sr-only">{strings.app.loading}</span>
      {['w-3/4', 'w-1/2', 'w-5/6', 'w-2/3', 'w-1/3'].map((width) => (
        <span key={width} className={`h-3.5 rounded-sm bg-sunken ${width}`} />
      ))}
    </div>
  );
}
