// Loads the console. If a file cannot be loaded, because the daemon restarts, the
// page loads again.
import("./console.js").catch(() => setTimeout(() => location.reload(), 2000));
