/** The mayfly. Decoration: its name always stands beside it. */
export function Wings({ className = 'wings' }: { className?: string }) {
  return (
    <svg className={className} viewBox="0 0 64 64" aria-hidden="true" focusable="false">
      <g fill="none" stroke="currentColor" strokeLinecap="round">
        <path d="M45 16c-7 9-15 17-27 24" strokeWidth="4.5" />
        <path d="M18 40C11 44 7 49 4 58M18 40c-6 5-7 11-6 19M18 40c-8 2-12 5-15 9" strokeWidth="2.2" />
        <path d="M47 14c3-3 5-5 10-5M47 15c3 0 6 0 9 3" strokeWidth="2.2" />
      </g>
      <path className="wing-a" fill="currentColor" opacity=".85" d="M37 25C30 17 27 9 29 3c7 3 12 11 11 19z" />
      <path className="wing-b" fill="currentColor" opacity=".42" d="M35 27C45 29 54 35 57 43c-9 1-19-5-24-13z" />
      <circle fill="currentColor" cx="46" cy="15" r="3.6" />
    </svg>
  );
}
