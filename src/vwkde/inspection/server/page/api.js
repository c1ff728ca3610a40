// Requests to the server; a refusal becomes an error of one line.

export const getModel = async () => (await ask("api/model")).json();

export const check = async (file, signal) => (await ask("api/check", { ...upload(file), signal })).json();

export const add = async (file) => (await ask("api/add", upload(file))).json();

export const picture = async (file) => (await ask("api/picture", upload(file))).blob();

const NOTHING = 204;

// The mask of what is not inspected, as PNG; null if there is none.
export const mask = async () => {
  const reply = await ask("api/mask");
  return reply.status === NOTHING ? null : reply.blob();
};

export const saveMask = async (png) => (await ask("api/mask", upload(new File([png], "mask.png")))).json();

export const table = async (rows) => {
  const headers = { "Content-Type": "application/json" };
  return (await ask("api/scores.csv", { method: "POST", headers, body: JSON.stringify(rows) })).blob();
};

function upload(file) {
  const body = new FormData();
  body.append("image", file, file.name);
  return { method: "POST", body };
}

const BUSY = 503;
const TRIES = 30;

// A server that is busy says when to try again.
async function ask(where, options, tries = TRIES) {
  const reply = await fetch(where, options).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw Object.assign(new Error("The server cannot be reached. Is it still running?"), { unreachable: true });
  });
  if (reply.ok) return reply;
  if (reply.status === BUSY && tries > 1) {
    await new Promise((resolve) => setTimeout(resolve, 1000 * (Number(reply.headers.get("Retry-After")) || 1)));
    return ask(where, options, tries - 1);
  }
  const { detail } = await reply.json().catch(() => ({}));
  throw new Error(detail ?? `The server failed (status ${reply.status}).`);
}
