/**
 * Connections to a PostgreSQL server that end by themselves when nothing passes over them for too long.
 *
 * The server bounds its own work; only the client can find out that the server is gone. A machine that vanishes with a
 * statement on its way leaves a socket that the system gives up after a quarter of an hour; one that acknowledges and
 * answers nothing is never given up. The caller gets the error of a lost connection, and the pool makes another.
 */
import { Duration, Redacted } from "effect"
import { connect, type Socket } from "node:net"

/** Milliseconds without traffic after which the machine sends a keep-alive probe. */
const keepAliveMs = 10_000
/** Checks within the length of a silence, so that one is noticed soon after it was long enough. */
const checksOfASilence = 14

/** Where the URL points, as the client reads it. */
const addressOf = (url: string) => {
  const { hostname, port, searchParams } = new URL(url)
  const host = searchParams.get("host") ?? (hostname === "" ? "localhost" : decodeURIComponent(hostname))
  const at = Number(searchParams.get("port") ?? (port === "" ? 5432 : port))
  return host.startsWith("/")
    ? { path: `${host}/.s.PGSQL.${at}` }
    : { host: host.replace(/^\[(.*)\]$/, "$1"), port: at }
}

/** Bytes are counted below TLS, where they pass in either case. */
const endWhenSilent = (socket: Socket, silence: Duration.Duration) => {
  let seen = 0
  let silentChecks = 0
  const check = () => {
    const passed = socket.bytesRead + socket.bytesWritten
    silentChecks = passed === seen ? silentChecks + 1 : 0
    seen = passed
    if (silentChecks >= checksOfASilence)
      socket.destroy(new Error(`The database server was silent for ${Duration.format(silence)}`))
  }
  const timer = setInterval(check, Duration.toMillis(silence) / checksOfASilence).unref()
  // Under TLS nothing else listens to this socket.
  socket.on("error", () => undefined).once("close", () => clearInterval(timer))
}

/** Opens connections to the server of `url`, each of which ends after a silence of that long. */
export const serverSocket = (url: Redacted.Redacted, silence: Duration.Duration) => (): Socket => {
  const socket = connect({
    ...addressOf(Redacted.value(url)),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs
  })
  endWhenSilent(socket, silence)
  return socket
}
