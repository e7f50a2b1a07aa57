/**
 * The views of a job: tabs of its page, in this order, each with an address of its own (`?view=`). A view that is heavy
 * comes as a lazy component. Only the one that is shown is there, so a view keeps what must survive a change of tabs
 * outside of itself (useJob).
 */
import { lazy, type ComponentType } from 'react';
import { FaultsAndImages } from './Images.tsx';
import { Files } from './Files.tsx';
import { ReportView } from './ReportView.tsx';
import { Output } from './Output.tsx';
import { Overview } from './Overview.tsx';
import type { ViewProps } from './view-props.ts';

export interface View {
  /** In the address. */
  id: string;
  label: string;
  Component: ComponentType<ViewProps>;
}

export const VIEWS: readonly View[] = [
  { id: 'overview', label: 'Overview', Component: Overview },
  {
    id: 'timeline',
    label: 'Timeline',
    Component: lazy(async () => ({ default: (await import('./timeline/TimelineView.tsx')).TimelineView })),
  },
  {
    id: 'profile',
    label: 'Profile',
    Component: lazy(async () => ({ default: (await import('./ProfileView.tsx')).ProfileView })),
  },
  {
    id: 'messages',
    label: 'Messages',
    Component: lazy(async () => ({ default: (await import('./matrix/MatrixView.tsx')).MatrixView })),
  },
  {
    id: 'charts',
    label: 'Charts',
    Component: lazy(async () => ({ default: (await import('./charts/ChartsView.tsx')).ChartsView })),
  },
  { id: 'output', label: 'Output', Component: Output },
  { id: 'files', label: 'Files', Component: Files },
  { id: 'faults', label: 'Faults & checkpoints', Component: FaultsAndImages },
  { id: 'report', label: 'Report', Component: ReportView },
];

export const viewOf = (id: string | undefined): View => VIEWS.find((v) => v.id === id) ?? VIEWS[0]!;
