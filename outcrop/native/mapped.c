/* The handling of mapped files that cannot be read, because the disk fails or somebody truncates the file. The kernel
 * then sends SIGBUS, which no function can return as an error. The process reports the reason and ends with the exit
 * code of a search without a verdict. Only async-signal-safe calls are made. */

#include <signal.h>

enum { NO_VERDICT = 3 };

static void say(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  if (write(STDERR_FILENO, text, length) < 0) return;
}

/* Returns the next byte of a file, -1 at its end. */
static int next_byte(int file) {
  char byte;
  return read(file, &byte, 1) == 1 ? (unsigned char)byte : -1;
}

static uintptr_t next_address(int file) {
  uintptr_t address = 0;
  for (int digit; (digit = next_byte(file)) > ' ' && digit != '-';)
    address = address * 16 + (uintptr_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
  return address;
}

/* Writes the path of the mapping that an address lies in; a line is "from-to rights offset device inode   path". */
static void say_path(const void *address) {
  int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), byte = 0;
  while (file >= 0 && byte >= 0) {
    uintptr_t from = next_address(file), to = next_address(file);
    int found = from <= (uintptr_t)address && (uintptr_t)address < to, in_path = 0;
    while ((byte = next_byte(file)) >= 0 && byte != '\n') {
      in_path |= byte == '/';
      if (found && in_path && write(STDERR_FILENO, &(char){(char)byte}, 1) < 0) return;
    }
    if (found) break;
  }
  if (file >= 0) close(file);
}

static void mapping_failed(int number, siginfo_t *information, void *context) {
  (void)context;
  if (information->si_code <= 0) { /* another process sent it */
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  say("\noutcrop: no verdict: a file of the search can no longer be read (bus error), because the disk failed or the "
      "file was truncated: ");
  say_path(information->si_addr);
  say("\n");
  _exit(NO_VERDICT);
}

/* Installs the handler, before files are mapped. An existing handler is kept. */
static void watch_mapped_files(void) {
  struct sigaction action;
  if (sigaction(SIGBUS, NULL, &action) != 0 || (action.sa_flags & SA_SIGINFO) || action.sa_handler != SIG_DFL) return;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = mapping_failed;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, NULL);
}
