/**
 * Installs the packages that package-lock.json names when they are not installed yet; otherwise returns at once.
 *
 * Runs before `npm start`, `npm test`, `npm run demo` and `npm run cli`, under whatever Node the machine has, so it is
 * plain JavaScript without dependencies. Several of them may start at the same time: one installs, the others wait.
 */
import { spawn } from "node:child_process"
import { createHash, randomUUID } from "node:crypto"
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lockFile = join(root, "package-lock.json")
const modules = join(root, "node_modules")
const stampFile = join(modules, ".ballast-install")
const turn = join(modules, ".ballast-install-turn")
const ownerFile = join(turn, "owner")

const pollMillis = 250
/** A turn without an owner's name was left in the instant between its two writes. */
const namelessMillis = 5_000
const longestInstallMillis = 15 * 60_000

const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis))

const readText = (path) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

const modifiedAt = (path) => {
  try {
    return statSync(path).mtimeMs
  } catch {
    return undefined
  }
}

const wantedStamp = () => createHash("sha256").update(readFileSync(lockFile)).digest("hex")

/**
 * The stamp is of the lock file as it is now. Without a stamp somebody ran npm by hand, and npm's own record, written at
 * the end of an installation, tells whether that was after the last change of the lock file.
 */
const isInstalled = () => {
  const stamp = readText(stampFile)
  if (stamp !== undefined) return stamp === wantedStamp()
  const installedAt = modifiedAt(join(modules, ".package-lock.json"))
  return installedAt !== undefined && installedAt >= modifiedAt(lockFile)
}

const isAlive = (pid) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === "EPERM"
  }
}

/** Its owner died, or never got to write its name, or has been at it for longer than any installation takes. */
const isAbandoned = () => {
  const since = modifiedAt(turn)
  if (since === undefined) return false
  const age = Date.now() - since
  const pid = Number.parseInt(readText(ownerFile) ?? "", 10)
  return Number.isNaN(pid) ? age > namelessMillis : !isAlive(pid) || age > longestInstallMillis
}

const tryTurn = async () => {
  const name = `${process.pid} ${randomUUID()}`
  try {
    mkdirSync(turn)
  } catch (error) {
    if (error.code === "EEXIST") return undefined
    throw error
  }
  writeFileSync(ownerFile, name)
  // Whoever judged the turn before this one as abandoned may be removing this one in the same instant.
  await sleep(pollMillis / 2)
  return readText(ownerFile) === name ? () => rmSync(turn, { recursive: true, force: true }) : undefined
}

const runNpm = () =>
  new Promise((resolve, reject) => {
    // Packages that want a newer Node get it: one is installed with them, and runs them. npm would warn of each.
    const args = ["install", "--no-save", "--no-audit", "--no-fund", "--include=dev", "--loglevel=error"]
    const npm = process.env.npm_execpath
    const child =
      npm === undefined
        ? spawn("npm", args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" })
        : spawn(process.execPath, [npm, ...args], { cwd: root, stdio: "inherit" })
    const begun = Date.now()
    const progress = setInterval(
      () => console.error(`  still installing, ${Math.round((Date.now() - begun) / 1000)} s`),
      5_000
    )
    child.on("error", reject)
    child.on("exit", (code, signal) => {
      clearInterval(progress)
      if (code === 0) resolve()
      else reject(new Error(`npm install ended with ${signal ?? `code ${code}`}`))
    })
  })

const install = async () => {
  mkdirSync(modules, { recursive: true })
  let isTold = false
  for (;;) {
    const release = await tryTurn()
    if (release !== undefined) {
      try {
        if (isInstalled()) return
        console.error("Installing packages; the first time takes about half a minute.")
        const stamp = wantedStamp()
        rmSync(stampFile, { force: true })
        await runNpm()
        writeFileSync(stampFile, stamp)
        return
      } finally {
        release()
      }
    }
    if (isAbandoned()) rmSync(turn, { recursive: true, force: true })
    else if (!isTold) {
      isTold = true
      console.error("Another start is installing the packages; waiting for it.")
    }
    await sleep(pollMillis)
    if (isInstalled() && modifiedAt(turn) === undefined) return
  }
}

if (!isInstalled()) {
  try {
    await install()
  } catch (error) {
    console.error(`The packages could not be installed: ${error.message}`)
    console.error(
      "Check the network and the registry in .npmrc, then run the command again, or run: npm install --no-save"
    )
    process.exit(1)
  }
}
