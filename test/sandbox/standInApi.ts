/**
 * The smallest service that a world can live with: readiness, the admin routes and the two v2 routes that provisioning
 * calls. Tenants last as long as DATA_DIR. `GET /environment` shows what the process was started with. With STUBBORN
 * set it does not end on SIGTERM.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage } from "node:http"
import { join } from "node:path"

interface Stored {
  keys: Record<string, { tenantId: string; scopes: ReadonlyArray<string> }>
  tenants: Array<{ tenantId: string; name: string; entitlements: ReadonlyArray<string> }>
  strategies: Array<unknown>
}

if (process.env["STUBBORN"] !== undefined) process.on("SIGTERM", () => undefined)

const folder = process.env["DATA_DIR"]!
const file = join(folder, "stand-in.json")
mkdirSync(folder, { recursive: true })
const load = (): Stored => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Stored
  } catch {
    return { keys: {}, tenants: [], strategies: [] }
  }
}
const stored = load()
const save = () => writeFileSync(file, JSON.stringify(stored))

const bodyOf = async (request: IncomingMessage) => {
  let text = ""
  for await (const chunk of request) text += chunk
  return JSON.parse(text || "{}")
}

createServer(async (request, response) => {
  const reply = (status: number, data: unknown) =>
    response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify({ success: status < 300, data }))
  const path = request.url ?? "/"
  const admin = request.headers.authorization === `Bearer ${process.env["ADMIN_TOKEN"]}`
  const key = stored.keys[String(request.headers["x-api-key"])]
  const keysOf = /^\/v1\/admin\/tenants\/([^/]+)\/keys$/.exec(path)
  if (path === "/health/ready") return reply(200, {})
  if (path === "/environment") return reply(200, { ...process.env, pid: process.pid })
  if (path === "/v2/whoami") return key === undefined ? reply(401, null) : reply(200, key)
  if (path === "/v2/strategies") {
    if (key?.scopes.includes("strategies:write") !== true) return reply(403, null)
    stored.strategies.push(await bodyOf(request))
    save()
    return reply(201, { strategyId: `strategy-${stored.strategies.length}` })
  }
  if (!admin) return reply(401, null)
  if (path === "/v1/admin/discovery/curated") return reply(200, await bodyOf(request))
  const blueprint = /^\/v1\/admin\/strategy-blueprints\/([^/]+)\/mirrorable$/.exec(path)
  if (blueprint !== null)
    return reply(200, { blueprintId: blueprint[1], canMirror: true, isPublic: true, ...(await bodyOf(request)) })
  const ownerOf = /^\/v1\/admin\/tenants\/([^/]+)\/owner$/.exec(path)
  if (ownerOf !== null) return reply(200, { tenantId: ownerOf[1], ...(await bodyOf(request)) })
  if (path === "/v1/admin/tenants") {
    const tenant = { tenantId: `tenant-${stored.tenants.length + 1}`, ...(await bodyOf(request)) }
    stored.tenants.push(tenant)
    save()
    return reply(201, tenant)
  }
  if (keysOf !== null) {
    const { scopes } = await bodyOf(request)
    const apiKey = `sk_${Object.keys(stored.keys).length + 1}`
    stored.keys[apiKey] = { tenantId: keysOf[1]!, scopes }
    save()
    return reply(201, { apiKeyId: `key_${apiKey}`, apiKey })
  }
  return reply(404, null)
}).listen(Number(process.env["PORT"]), "127.0.0.1")
