/**
 * Ends with a sentence where Node is older than the one that the programs are written for: it would not read them. Plain
 * JavaScript, for whatever Node the machine has. With the packages of development a new enough Node comes along.
 */
import { readFileSync } from "node:fs"

const { devDependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
const [needed] = devDependencies.node.split(".").map(Number)
const [own] = process.versions.node.split(".").map(Number)

if (own < needed) {
  console.error(
    `This is Node ${process.versions.node}; the service needs Node ${needed} or newer. Install it, or run npm install, which brings it.`
  )
  process.exit(1)
}
