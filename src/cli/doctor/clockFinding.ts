/** How far another clock may be from this one. */
import { Duration } from "effect"
import { type Finding, ok, problem, warning } from "#src/cli/doctor/Finding.ts"

/** Orders, quotes and signatures live for minutes. */
const noticed = Duration.seconds(5)
const harmful = Duration.seconds(30)

/** `milliseconds` is how far the other clock is ahead. */
export const clockFinding = (subject: string, whose: string, milliseconds: number): Finding => {
  const off = Math.abs(milliseconds)
  const words = `${whose} is ${(off / 1000).toFixed(1)} s ${milliseconds < 0 ? "behind" : "ahead of"} this machine's`
  const toDo = "Synchronise both machines by NTP."
  if (off > Duration.toMillis(harmful)) return problem(subject, words, toDo)
  return off > Duration.toMillis(noticed) ? warning(subject, words, toDo) : ok(subject, words)
}
