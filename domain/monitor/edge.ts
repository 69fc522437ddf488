/**
 * Edges with hysteresis: a trigger fires when its figure reaches the level, and not again before the figure has come
 * back far enough.
 */
import type { Level } from "#domain/monitor/Trigger.ts"

/** Whether the figure is where the trigger fires. */
const isReached = ({ comparison, threshold }: Level, value: bigint): boolean =>
  comparison === "above" ? value >= threshold : value <= threshold

/** Whether the figure is back where the trigger may fire again. Without hysteresis that is anywhere off the level. */
const isBack = (level: Level, value: bigint): boolean =>
  !isReached(level, value) && (level.comparison === "above" ? value <= level.rearm : value >= level.rearm)

export interface Judgement {
  readonly fires: boolean
  /** Whether the trigger may fire at the next figure. */
  readonly isArmed: boolean
}

/** Judges the next figure of a trigger. */
export const judge = (level: Level, isArmed: boolean, value: bigint): Judgement => {
  if (isArmed) {
    const fires = isReached(level, value)
    return { fires, isArmed: !fires }
  }
  return { fires: false, isArmed: isBack(level, value) }
}

/** What a figure may be while prices move. */
export interface Span {
  readonly min: bigint
  readonly max: bigint
}

/** Whether no figure of the span changes anything. */
export const isQuiet = (level: Level, isArmed: boolean, { min, max }: Span): boolean => {
  const edge = level.comparison === "above" ? (isArmed ? max : min) : isArmed ? min : max
  return isArmed ? !isReached(level, edge) : !isBack(level, edge)
}
