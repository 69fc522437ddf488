/** Reads which database a program works on. */
import type { DatabaseConfig } from "#layers/sql/DatabaseConfig.ts"
import { integer, secretUrl, text } from "#src/config/kinds.ts"
import { all, optional, type Setting, withDefault } from "#src/config/Setting.ts"

export const databaseUrl = secretUrl(["postgres:", "postgresql:"], "postgres://user:password@db:5432/ballast")

export const database: Setting<DatabaseConfig["Service"]> = all({
  url: optional("DATABASE_URL", databaseUrl),
  directUrl: optional("DATABASE_DIRECT_URL", databaseUrl),
  dataDir: withDefault("DATA_DIR", text("a folder for the service's state", "/var/lib/ballast"), ".data/service"),
  maxConnections: withDefault("DATABASE_POOL", integer(1, 500, "10"), 10)
})
