// Selected or dropped files, as pairs of a file and its name.

export const chosenFiles = (input) => [...input.files].map((file) => [file, file.webkitRelativePath || file.name]);

// Images of a folder in natural order; other and hidden files are skipped, as in `vwkde inspect check`.
export function imagesAmong(pairs, suffixes) {
  const isHidden = (name) => /(^|\/)\./.test(name);
  const isImage = (name) => suffixes.some((suffix) => name.toLowerCase().endsWith(suffix));
  const images = pairs.filter(([, name]) => isImage(name) && !isHidden(name));
  return images.sort(([, a], [, b]) => a.localeCompare(b, "en", { numeric: true }));
}

// Dropped items: single files, and files in folders.
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = [], inFolders = [];
  for (const entry of entries) {
    if (entry.isFile) files.push([await fileOf(entry), entry.name]);
    else await walk(entry, entry.name, inFolders);
  }
  return { files, inFolders };
}

const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

async function walk(folder, path, files) {
  const reader = folder.createReader();
  for (;;) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // at most a hundred per call
    if (!entries.length) return;
    for (const entry of entries) {
      const name = `${path}/${entry.name}`;
      if (entry.isFile) files.push([await fileOf(entry), name]);
      else await walk(entry, name, files);
    }
  }
}
