/** A page in a real browser: headless Chromium, where one is on PATH. */
import { type ChildProcess, spawn } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell"]

const isProgram = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Its path, where there is one. */
export const browser = (process.env["PATH"] ?? "")
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find(isProgram)

/** Ends the title of a test in a browser, and says why when it is skipped. */
export const inBrowser =
  browser === undefined ? "in headless Chromium (skipped: no chromium on PATH)" : "in headless Chromium"
export const hasBrowser = browser !== undefined

const bodyOf = async (request: IncomingMessage) => {
  let text = ""
  for await (const chunk of request) text += chunk
  return text
}

export interface Site {
  readonly origin: string
  /** Opens its page, which has the bundle and runs the script. */
  readonly open: (bundle: string, script: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** A site of one page on a free port. What its script hands to `report` comes to `take`. */
export const openSite = async (take: (reported: unknown) => void): Promise<Site> => {
  let html = ""
  let child: ChildProcess | undefined
  const server = createServer(async (request, response) => {
    if (request.method === "POST") take(JSON.parse(await bodyOf(request)))
    response.writeHead(200, { "content-type": "text/html" }).end(request.method === "POST" ? "" : html)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const profile = await mkdtemp(join(tmpdir(), "ballast-browser-"))
  return {
    origin,
    open: async (bundle, script) => {
      const report = `const report = (frame) => fetch("/", { method: "POST", body: JSON.stringify(frame) })`
      html = `<!doctype html><script>${bundle.replaceAll("</script", "<\\/script")}</script><script>${report};${script}</script>`
      const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
      child = spawn(browser!, [...flags, `--user-data-dir=${profile}`, origin], { stdio: "ignore", detached: true })
    },
    close: async () => {
      if (child?.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

/** What a script has in pages, for scripts that are run without one: no process, Buffer or require. */
export const globalsOfPages = {
  AbortController,
  AbortSignal,
  clearInterval,
  clearTimeout,
  console,
  crypto,
  Event,
  EventTarget,
  fetch,
  Headers,
  MessageChannel,
  performance,
  queueMicrotask,
  ReadableStream,
  Request,
  Response,
  setInterval,
  setTimeout,
  TextDecoder,
  TextDecoderStream,
  TextEncoder,
  TransformStream,
  URL,
  URLSearchParams,
  WebSocket
}

/** Headers that pages may send to other origins unasked. Source: Fetch standard, "CORS-safelisted request-header". */
const safelisted = new Set(["accept", "accept-language", "content-language"])

/** `fetch` as a page of the origin has it: other origins are asked first, and are believed. */
export const fetchFrom =
  (origin: string): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init)
    const names = [...request.headers.keys()].filter((name) => !safelisted.has(name)).toSorted()
    const preflight = await fetch(request.url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": request.method,
        "access-control-request-headers": names.join(",")
      }
    })
    await preflight.body?.cancel()
    const listOf = (name: string) => (preflight.headers.get(name) ?? "").toLowerCase().split(/\s*,\s*/u)
    const isAllowed =
      preflight.headers.get("access-control-allow-origin") === origin &&
      listOf("access-control-allow-methods").includes(request.method.toLowerCase()) &&
      names.every((name) => listOf("access-control-allow-headers").includes(name))
    if (!isAllowed) throw new TypeError(`Failed to fetch: ${request.method} with ${names.join(", ")} is not allowed`)
    request.headers.set("origin", origin)
    return fetch(request)
  }
