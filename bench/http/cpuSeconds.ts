/**
 * CPU time of a process, all threads, user and system. Steadier than requests per second on a machine that does other
 * things too. Source: proc_pid_stat(5).
 */
import { readFileSync } from "node:fs"

/** What Linux counts process times in, on every architecture that Node runs on. */
const ticksPerSecond = 100

/** Fields 14 and 15 of the line; the second field, the program's name, may hold spaces and parentheses. */
export const parseStat = (stat: string): number => {
  const [, userTicks, systemTicks] = /^.*\)(?: \S+){11} (\d+) (\d+) /su.exec(stat) ?? []
  if (userTicks === undefined || systemTicks === undefined) throw new Error(`Not a line of /proc/<pid>/stat: ${stat}`)
  return (Number(userTicks) + Number(systemTicks)) / ticksPerSecond
}

/** Null where there is no /proc. */
export const cpuSeconds = (pid: number): number | null =>
  process.platform === "linux" ? parseStat(readFileSync(`/proc/${pid}/stat`, "utf8")) : null
